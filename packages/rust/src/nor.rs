// SPDX-License-Identifier: Apache-2.0
//! What `embedded-storage` calls NOR flash, as a chip for the store.
use embedded_storage::nor_flash::{NorFlash, NorFlashError, NorFlashErrorKind};

use crate::chip::{Flash, Geometry};
use crate::error::Error;

/// A `NorFlash` as a `Flash`: pages of `page_bytes`, blocks of its erase size, no spare bytes. The
/// store works on it; translation layers want spare bytes.
pub struct Nor<'f, T: NorFlash> {
    flash: &'f mut T,
    page_bytes: u16,
}

impl<'f, T: NorFlash> Nor<'f, T> {
    /// `page_bytes` divides the erase size and is a multiple of the write size, and the flash is read
    /// byte by byte (`READ_SIZE` 1): else `Error::CONFIG`. 256 is usual.
    pub fn new(flash: &'f mut T, page_bytes: u16) -> Result<Self, Error> {
        let page = usize::from(page_bytes);
        if page == 0
            || T::ERASE_SIZE % page != 0
            || page % T::WRITE_SIZE != 0
            || T::READ_SIZE != 1
            || T::ERASE_SIZE / page > usize::from(u16::MAX)
        {
            return Err(Error::CONFIG);
        }
        Ok(Nor { flash, page_bytes })
    }

    fn place(&self, page: u32, offset: u16) -> u32 {
        page * u32::from(self.page_bytes) + u32::from(offset)
    }
}

fn told<E: NorFlashError>(error: E, of: Error) -> Error {
    match error.kind() {
        NorFlashErrorKind::NotAligned => Error::ALIGN,
        NorFlashErrorKind::OutOfBounds => Error::RANGE,
        _ => of,
    }
}

impl<T: NorFlash> Flash for Nor<'_, T> {
    fn geometry(&self) -> Geometry {
        let page = usize::from(self.page_bytes);
        let programs = if T::WRITE_SIZE == 1 {
            0xFF
        } else {
            (page / T::WRITE_SIZE).min(0xFE)
        };
        Geometry {
            blocks: (self.flash.capacity() / T::ERASE_SIZE) as u32,
            block_pages: (T::ERASE_SIZE / page) as u16,
            page_bytes: self.page_bytes,
            program_bytes: T::WRITE_SIZE as u16,
            page_programs: programs as u8,
            flags: crate::sys::NW_CHIP_READ_ERASED as u8,
            read_us: 100,
            program_us: 500,
            erase_us: 45_000,
            ..Geometry::default()
        }
    }

    fn read(
        &mut self,
        page: u32,
        offset: u16,
        data: &mut [u8],
        _spare_offset: u16,
        _spare: &mut [u8],
    ) -> Result<u32, Error> {
        let place = self.place(page, offset);
        self.flash
            .read(place, data)
            .map_err(|error| told(error, Error::IO))?;
        Ok(0)
    }

    fn program(
        &mut self,
        page: u32,
        offset: u16,
        data: &[u8],
        _spare_offset: u16,
        _spare: &[u8],
    ) -> Result<(), Error> {
        let place = self.place(page, offset);
        self.flash
            .write(place, data)
            .map_err(|error| told(error, Error::PROGRAM))
    }

    fn erase(&mut self, block: u32) -> Result<(), Error> {
        let size = T::ERASE_SIZE as u32;
        let erased = self.flash.erase(block * size, (block + 1) * size);
        erased.map_err(|error| told(error, Error::ERASE))
    }
}
