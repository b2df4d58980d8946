// SPDX-License-Identifier: Apache-2.0
//! The translation layer whose map lies on the chip (ftl_tree.h).
use core::marker::PhantomData;
use core::mem::{size_of_val, MaybeUninit};
use core::ptr::{self, NonNull};

use crate::chip::{Chip, Geometry};
use crate::error::{told, Error};
use crate::sys;

/// Where the layer's state lies. It does not move while a `Tree` is there.
pub struct TreeState(MaybeUninit<sys::nw_ftl_tree>);

impl TreeState {
    /// Room for one layer.
    pub const fn new() -> Self {
        TreeState(MaybeUninit::uninit())
    }
}

impl Default for TreeState {
    fn default() -> Self {
        Self::new()
    }
}

/// As `struct nw_ftl_tree_config`; zero is the default. Mount with what was formatted.
#[derive(Clone, Copy, Default, Debug)]
pub struct TreeConfig {
    /// Blocks kept for cleaning and bad blocks: 0, or at least 12.
    pub spare_blocks: u16,
    /// 0: never; else a block is written anew in which a read corrected so many bits.
    pub scrub_bits: u8,
}

impl TreeConfig {
    fn raw(self) -> sys::nw_ftl_tree_config {
        sys::nw_ftl_tree_config {
            spare_blocks: self.spare_blocks,
            scrub_bits: self.scrub_bits,
        }
    }

    /// Words of RAM that a layer on such a chip needs at least; 0: it does not work there. More save
    /// programs and reads.
    pub fn ram_words(&self, geometry: &Geometry) -> usize {
        // SAFETY: both are plain structs, and only read.
        unsafe { sys::nw_ftl_tree_ram_bytes(&self.raw(), geometry) }.div_ceil(8)
    }
}

/// A chip as sectors that can be rewritten; a write is durable when it has returned.
pub struct Tree<'a> {
    ftl: NonNull<sys::nw_ftl_tree>,
    _on: PhantomData<(&'a mut TreeState, Chip<'a>, &'a mut [u64])>,
}

type Open = unsafe extern "C" fn(
    *mut sys::nw_ftl_tree,
    *mut sys::nw_chip,
    *const sys::nw_ftl_tree_config,
    *mut core::ffi::c_void,
    usize,
) -> core::ffi::c_int;

impl<'a> Tree<'a> {
    /// Makes the chip an empty device: what was on it is gone.
    pub fn format(
        state: &'a mut TreeState,
        chip: Chip<'a>,
        config: &TreeConfig,
        ram: &'a mut [u64],
    ) -> Result<Self, Error> {
        Self::open(sys::nw_ftl_tree_format, state, chip, config, ram)
    }

    /// The device as the last session left it. `Error::BLANK`: nothing is written on the chip.
    pub fn mount(
        state: &'a mut TreeState,
        chip: Chip<'a>,
        config: &TreeConfig,
        ram: &'a mut [u64],
    ) -> Result<Self, Error> {
        Self::open(sys::nw_ftl_tree_mount, state, chip, config, ram)
    }

    fn open(
        open: Open,
        state: &'a mut TreeState,
        chip: Chip<'a>,
        config: &TreeConfig,
        ram: &'a mut [u64],
    ) -> Result<Self, Error> {
        let ftl = NonNull::from(&mut state.0).cast();
        let bytes = size_of_val(ram);
        let memory = ram.as_mut_ptr().cast();
        // SAFETY: state, chip and RAM are borrowed for 'a, so they stay where they are and are
        // nobody else's. The RAM is aligned for u64, the widest type the layer keeps. The
        // configuration is copied. Opened, the state is initialised.
        told(unsafe { open(ftl.as_ptr(), chip.raw, &config.raw(), memory, bytes) })?;
        Ok(Tree {
            ftl,
            _on: PhantomData,
        })
    }

    /// How many sectors there are.
    pub fn sectors(&self) -> u32 {
        // SAFETY: here and below: the state is initialised, and C writes it during calls only.
        unsafe { (*self.ftl.as_ptr()).block.sectors }
    }

    /// Bytes of a sector.
    pub fn sector_bytes(&self) -> usize {
        usize::from(unsafe { (*self.ftl.as_ptr()).block.sector_bytes })
    }

    /// What the layer has done so far.
    pub fn stats(&self) -> sys::nw_stats {
        unsafe { (*self.ftl.as_ptr()).stats }
    }

    fn request(&mut self, sector: u32, count: u32, data: *mut u8) -> sys::nw_block_req {
        sys::nw_block_req {
            block: unsafe { &raw mut (*self.ftl.as_ptr()).block },
            sector,
            count,
            data,
            done: 0,
            budget_us: 0,
            app: 0,
            hint: 0,
        }
    }

    fn count(&self, length: usize) -> Result<u32, Error> {
        if !length.is_multiple_of(self.sector_bytes()) {
            return Err(Error::ALIGN);
        }
        u32::try_from(length / self.sector_bytes()).map_err(|_| Error::RANGE)
    }

    /// Reads whole sectors; one never written reads as zeros.
    pub fn read(&mut self, sector: u32, data: &mut [u8]) -> Result<(), Error> {
        let count = self.count(data.len())?;
        let mut req = self.request(sector, count, data.as_mut_ptr());
        // SAFETY: the layer is open, and data has `count` sectors.
        told(unsafe { sys::nw_block_read(&mut req) }).map(|_| ())
    }

    /// Writes whole sectors.
    pub fn write(&mut self, sector: u32, data: &[u8]) -> Result<(), Error> {
        let count = self.count(data.len())?;
        let mut req = self.request(sector, count, data.as_ptr().cast_mut());
        // SAFETY: as read(); a write never writes through its pointer (block.h).
        told(unsafe { sys::nw_block_write(&mut req) }).map(|_| ())
    }

    /// The content of these sectors is no longer needed. Durable after a sync.
    pub fn trim(&mut self, sector: u32, count: u32) -> Result<(), Error> {
        let mut req = self.request(sector, count, ptr::null_mut());
        // SAFETY: the layer is open.
        told(unsafe { sys::nw_block_trim(&mut req) }).map(|_| ())
    }

    /// Makes trims durable.
    pub fn sync(&mut self) -> Result<(), Error> {
        let mut req = self.request(0, 0, ptr::null_mut());
        // SAFETY: the layer is open.
        told(unsafe { sys::nw_block_sync(&mut req) }).map(|_| ())
    }

    /// Cleans ahead for about so long; true: more could be done.
    pub fn idle(&mut self, budget_us: u32) -> Result<bool, Error> {
        let mut req = self.request(0, 0, ptr::null_mut());
        req.budget_us = budget_us;
        // SAFETY: the layer is open.
        told(unsafe { sys::nw_block_idle(&mut req) }).map(|more| more != 0)
    }
}
