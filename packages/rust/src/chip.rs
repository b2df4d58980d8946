// SPDX-License-Identifier: Apache-2.0
//! The chip contract (chip.h): a chip for the layers, and chips that are driven in Rust.
use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::slice;

use crate::error::Error;
use crate::sys;

/// The shape of a chip, as in chip.h.
pub type Geometry = sys::nw_geometry;

impl Default for Geometry {
    /// All zero but for `erased`, which is 0xFF.
    fn default() -> Self {
        Geometry {
            blocks: 0,
            block_pages: 0,
            page_bytes: 0,
            spare_bytes: 0,
            program_bytes: 0,
            page_programs: 0,
            erased: 0xFF,
            buffers: 0,
            flags: 0,
            endurance: 0,
            read_us: 0,
            program_us: 0,
            erase_us: 0,
            heal_us: 0,
            heal_life: 0,
            heal_step: 0,
            heal_limit: 0,
        }
    }
}

/// An opened chip. It borrows what it stands on; a layer or a store takes it.
pub struct Chip<'a> {
    pub(crate) raw: *mut sys::nw_chip,
    _on: PhantomData<&'a mut sys::nw_chip>,
}

impl<'a> Chip<'a> {
    /// # Safety
    /// `raw` is a valid chip that stays where it is, and is used by nobody else, for `'a`.
    pub unsafe fn from_raw(raw: *mut sys::nw_chip) -> Self {
        Chip {
            raw,
            _on: PhantomData,
        }
    }

    /// Its shape.
    pub fn geometry(&self) -> Geometry {
        // SAFETY: as promised to from_raw().
        unsafe { (*self.raw).geometry }
    }
}

/// A chip that is driven in Rust: the promises of chip.h, WHAT THE DRIVER OWES, are its own.
pub trait Flash {
    /// The shape; it does not change.
    fn geometry(&self) -> Geometry;
    /// Reads data from `offset` on and spare bytes from `spare_offset` on; answers the bits
    /// corrected. Either may be empty.
    fn read(
        &mut self,
        page: u32,
        offset: u16,
        data: &mut [u8],
        spare_offset: u16,
        spare: &mut [u8],
    ) -> Result<u32, Error>;
    /// Programs data and spare bytes at once.
    fn program(
        &mut self,
        page: u32,
        offset: u16,
        data: &[u8],
        spare_offset: u16,
        spare: &[u8],
    ) -> Result<(), Error>;
    /// Erases a block.
    fn erase(&mut self, block: u32) -> Result<(), Error>;
    /// Is the block marked bad?
    fn is_bad(&mut self, _block: u32) -> Result<bool, Error> {
        Ok(false)
    }
    /// Marks a block bad, for good.
    fn mark_bad(&mut self, _block: u32) -> Result<(), Error> {
        Err(Error::UNSUPPORTED)
    }
}

/// A `Flash` with what C needs to call it.
pub struct Custom<'f, T: Flash> {
    flash: &'f mut T,
    chip: sys::nw_chip,
}

impl<'f, T: Flash> Custom<'f, T> {
    /// Nothing is called yet.
    pub fn new(flash: &'f mut T) -> Self {
        let geometry = flash.geometry();
        let chip = sys::nw_chip {
            ops: &Self::OPS,
            context: core::ptr::null_mut(),
            geometry,
        };
        Custom { flash, chip }
    }

    /// The chip; `Error::CONFIG` for a shape that chip.h does not allow.
    pub fn open(&mut self) -> Result<Chip<'_>, Error> {
        // SAFETY: the geometry is a plain struct.
        crate::error::told(unsafe { sys::nw_geometry_check(&self.chip.geometry) })?;
        self.chip.context = (&raw mut *self.flash).cast();
        // SAFETY: `self` is borrowed, so it stays where it is, for as long as the chip is there.
        Ok(unsafe { Chip::from_raw(&raw mut self.chip) })
    }

    const OPS: sys::nw_chip_ops = sys::nw_chip_ops {
        read: Some(read::<T>),
        program: Some(program::<T>),
        erase: Some(erase::<T>),
        is_bad: Some(is_bad::<T>),
        mark_bad: Some(mark_bad::<T>),
        copy: None,
        buffer_load: None,
        buffer_read: None,
        buffer_write: None,
        buffer_program: None,
        heal: None,
    };
}

/// # Safety
/// `req` is what the core gives a verb of a chip made by `Custom`.
unsafe fn flash_of<'r, T>(req: *mut sys::nw_chip_req) -> &'r mut T {
    let context: *mut c_void = (*(*req).chip).context;
    &mut *context.cast::<T>()
}

/// # Safety
/// `at` has `length` bytes, or is not looked at.
unsafe fn bytes_of<'r>(at: *const u8, length: u16) -> &'r [u8] {
    if length == 0 || at.is_null() {
        return &[];
    }
    slice::from_raw_parts(at, usize::from(length))
}

/// # Safety
/// As `bytes_of`, and they may be written to.
unsafe fn room_of<'r>(at: *mut u8, length: u16) -> &'r mut [u8] {
    if length == 0 || at.is_null() {
        return &mut [];
    }
    slice::from_raw_parts_mut(at, usize::from(length))
}

fn answer(result: Result<(), Error>) -> c_int {
    result.map_or_else(|error| error.0, |()| sys::NW_OK)
}

unsafe extern "C" fn read<T: Flash>(req: *mut sys::nw_chip_req) -> c_int {
    let told = *req;
    let data = room_of(told.data, told.length);
    let spare = room_of(told.spare, told.spare_length);
    let result = flash_of::<T>(req).read(told.page, told.offset, data, told.spare_offset, spare);
    result.map_or_else(
        |error| error.0,
        |bits| c_int::try_from(bits).unwrap_or(c_int::MAX),
    )
}

unsafe extern "C" fn program<T: Flash>(req: *mut sys::nw_chip_req) -> c_int {
    let told = *req;
    let data = bytes_of(told.data, told.length);
    let spare = bytes_of(told.spare, told.spare_length);
    answer(flash_of::<T>(req).program(told.page, told.offset, data, told.spare_offset, spare))
}

unsafe extern "C" fn erase<T: Flash>(req: *mut sys::nw_chip_req) -> c_int {
    answer(flash_of::<T>(req).erase((*req).block))
}

unsafe extern "C" fn is_bad<T: Flash>(req: *mut sys::nw_chip_req) -> c_int {
    flash_of::<T>(req)
        .is_bad((*req).block)
        .map_or_else(|error| error.0, c_int::from)
}

unsafe extern "C" fn mark_bad<T: Flash>(req: *mut sys::nw_chip_req) -> c_int {
    answer(flash_of::<T>(req).mark_bad((*req).block))
}
