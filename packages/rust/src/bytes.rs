// SPDX-License-Identifier: Apache-2.0
//! `embedded-storage` over the tree layer: any bytes at any place.
use embedded_storage::{ReadStorage, Storage};

use crate::error::Error;
use crate::tree::Tree;

/// A `Tree` as one row of bytes. A write that covers a part of a sector reads the rest first; each
/// sector is written whole or not at all, and is durable when the call has returned.
pub struct Bytes<'p, 'a> {
    tree: &'p mut Tree<'a>,
    sector: &'p mut [u8],
}

impl<'p, 'a> Bytes<'p, 'a> {
    /// `sector` has room for one sector at least, else `Error::RAM`.
    pub fn new(tree: &'p mut Tree<'a>, sector: &'p mut [u8]) -> Result<Self, Error> {
        let bytes = tree.sector_bytes();
        match sector.get_mut(..bytes) {
            Some(sector) => Ok(Bytes { tree, sector }),
            None => Err(Error::RAM),
        }
    }

    fn check(&self, offset: u32, length: usize) -> Result<(), Error> {
        let end = u64::from(offset) + length as u64;
        if end > self.capacity() as u64 {
            return Err(Error::RANGE);
        }
        Ok(())
    }

    /// The sector of a place, the place in it, and how many bytes from there lie in it.
    fn piece(&self, offset: u32, length: usize) -> (u32, usize, usize) {
        let bytes = self.sector.len();
        let at = offset as usize % bytes;
        ((offset as usize / bytes) as u32, at, length.min(bytes - at))
    }
}

impl ReadStorage for Bytes<'_, '_> {
    type Error = Error;

    fn read(&mut self, mut offset: u32, mut bytes: &mut [u8]) -> Result<(), Error> {
        self.check(offset, bytes.len())?;
        while !bytes.is_empty() {
            let (sector, at, length) = self.piece(offset, bytes.len());
            let (now, later) = bytes.split_at_mut(length);
            if length == self.sector.len() {
                self.tree.read(sector, now)?;
            } else {
                self.tree.read(sector, self.sector)?;
                now.copy_from_slice(&self.sector[at..at + length]);
            }
            bytes = later;
            offset += length as u32;
        }
        Ok(())
    }

    /// In bytes; of more than 4 GiB what an offset can reach.
    fn capacity(&self) -> usize {
        let bytes = u64::from(self.tree.sectors()) * self.sector.len() as u64;
        usize::try_from(bytes.min(u64::from(u32::MAX))).unwrap_or(usize::MAX)
    }
}

impl Storage for Bytes<'_, '_> {
    fn write(&mut self, mut offset: u32, mut bytes: &[u8]) -> Result<(), Error> {
        self.check(offset, bytes.len())?;
        while !bytes.is_empty() {
            let (sector, at, length) = self.piece(offset, bytes.len());
            let (now, later) = bytes.split_at(length);
            if length == self.sector.len() {
                self.tree.write(sector, now)?;
            } else {
                self.tree.read(sector, self.sector)?;
                self.sector[at..at + length].copy_from_slice(now);
                self.tree.write(sector, self.sector)?;
            }
            bytes = later;
            offset += length as u32;
        }
        Ok(())
    }
}
