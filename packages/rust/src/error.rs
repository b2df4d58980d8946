// SPDX-License-Identifier: Apache-2.0
//! What can go wrong: the numbers of error.h.
use core::ffi::{c_int, CStr};
use core::fmt;

use crate::sys;

/// An error of Nandwich; the constants are those of error.h.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error(pub c_int);

macro_rules! errors {
    ($($name:ident = $number:ident),* $(,)?) => {
        #[allow(missing_docs)]
        impl Error {
            $(pub const $name: Error = Error(sys::$number);)*
        }
    };
}

errors! {
    CONFIG = NW_ERR_CONFIG, RAM = NW_ERR_RAM, RANGE = NW_ERR_RANGE, ALIGN = NW_ERR_ALIGN,
    UNSUPPORTED = NW_ERR_UNSUPPORTED, BAD_BLOCK = NW_ERR_BAD_BLOCK, PROGRAM = NW_ERR_PROGRAM,
    ERASE = NW_ERR_ERASE, ECC = NW_ERR_ECC, POWER = NW_ERR_POWER, FULL = NW_ERR_FULL,
    CORRUPT = NW_ERR_CORRUPT, VERSION = NW_ERR_VERSION, NOT_FOUND = NW_ERR_NOT_FOUND,
    IO = NW_ERR_IO, TYPE = NW_ERR_TYPE, EXISTS = NW_ERR_EXISTS, NAME = NW_ERR_NAME,
    KEY = NW_ERR_KEY, BLANK = NW_ERR_BLANK, BUSY = NW_ERR_BUSY,
}

impl Error {
    /// The phrase of `nw_error_text()`.
    pub fn text(self) -> &'static str {
        // SAFETY: the function answers a constant string of ASCII for any number.
        let text = unsafe { CStr::from_ptr(sys::nw_error_text(self.0)) };
        text.to_str().unwrap_or("unknown error")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Error({}, {})", self.0, self.text())
    }
}

impl core::error::Error for Error {}

/// C's answer: a value from 0 on, or an error.
pub(crate) fn told(result: c_int) -> Result<c_int, Error> {
    if result < 0 {
        Err(Error(result))
    } else {
        Ok(result)
    }
}
