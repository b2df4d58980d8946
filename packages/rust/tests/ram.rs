// SPDX-License-Identifier: Apache-2.0
//! Layers on a chip in RAM that notices misuse.
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use embedded_storage::{ReadStorage, Storage};
use nandwich::{
    Bytes, Custom, Error, Flash, Geometry, Kind, Nor, Store, StoreConfig, Tree, TreeConfig,
    TreeState,
};

const PAGES: usize = 16;
const DATA: usize = 512;
const SPARE: usize = 16;

struct Ram {
    pages: Vec<[u8; DATA + SPARE]>,
    written: Vec<bool>,
    bus_error: bool,
}

impl Ram {
    fn new(blocks: usize) -> Self {
        let pages = blocks * PAGES;
        Ram {
            pages: vec![[0xFF; DATA + SPARE]; pages],
            written: vec![false; pages],
            bus_error: false,
        }
    }
}

impl Flash for Ram {
    fn geometry(&self) -> Geometry {
        Geometry {
            blocks: (self.pages.len() / PAGES) as u32,
            block_pages: PAGES as u16,
            page_bytes: DATA as u16,
            spare_bytes: SPARE as u16,
            program_bytes: DATA as u16,
            page_programs: 1,
            flags: 1,
            ..Geometry::default()
        }
    }

    fn read(
        &mut self,
        page: u32,
        offset: u16,
        data: &mut [u8],
        spare_offset: u16,
        spare: &mut [u8],
    ) -> Result<u32, Error> {
        if self.bus_error {
            return Err(Error::IO);
        }
        let from = &self.pages[page as usize];
        let (at, spare_at) = (usize::from(offset), DATA + usize::from(spare_offset));
        data.copy_from_slice(&from[at..at + data.len()]);
        spare.copy_from_slice(&from[spare_at..spare_at + spare.len()]);
        Ok(0)
    }

    fn program(
        &mut self,
        page: u32,
        offset: u16,
        data: &[u8],
        spare_offset: u16,
        spare: &[u8],
    ) -> Result<(), Error> {
        let page = page as usize;
        assert!(!self.written[page], "page {page} programmed twice");
        self.written[page] = true;
        let (at, spare_at) = (usize::from(offset), DATA + usize::from(spare_offset));
        self.pages[page][at..at + data.len()].copy_from_slice(data);
        self.pages[page][spare_at..spare_at + spare.len()].copy_from_slice(spare);
        Ok(())
    }

    fn erase(&mut self, block: u32) -> Result<(), Error> {
        let first = block as usize * PAGES;
        self.pages[first..first + PAGES].fill([0xFF; DATA + SPARE]);
        self.written[first..first + PAGES].fill(false);
        Ok(())
    }
}

/// Goal: what a session wrote, the next one reads; a chip with nothing on it is told apart.
#[test]
fn tree_over_two_sessions() {
    let mut flash = Ram::new(32);
    let config = TreeConfig::default();
    let mut ram = vec![0u64; config.ram_words(&flash.geometry())];
    let mut state = TreeState::new();
    {
        let mut chip = Custom::new(&mut flash);
        let blank = Tree::mount(&mut state, chip.open().unwrap(), &config, &mut ram);
        assert_eq!(blank.err(), Some(Error::BLANK));
    }
    {
        let mut chip = Custom::new(&mut flash);
        let mut few = [0; 4];
        let short = Tree::format(&mut state, chip.open().unwrap(), &config, &mut few);
        assert_eq!(short.err(), Some(Error::RAM));
    }
    {
        let mut chip = Custom::new(&mut flash);
        let chip = chip.open().unwrap();
        let mut tree = Tree::format(&mut state, chip, &config, &mut ram).unwrap();
        assert_eq!(tree.sector_bytes(), DATA);
        for round in 0..200u32 {
            let data = [round as u8; 2 * DATA];
            tree.write((round * 7) % (tree.sectors() - 1), &data)
                .unwrap();
            tree.idle(1000).unwrap();
        }
        tree.trim(3, 1).unwrap();
        tree.sync().unwrap();
        tree.write(5, &[0xA5; DATA]).unwrap();
        assert!(tree.stats().host_writes >= 401);
        assert_eq!(tree.write(0, &[0; 100]), Err(Error::ALIGN));
        assert_eq!(tree.write(tree.sectors(), &[0; DATA]), Err(Error::RANGE));
    }
    let mut chip = Custom::new(&mut flash);
    let mut tree = Tree::mount(&mut state, chip.open().unwrap(), &config, &mut ram).unwrap();
    let mut data = [1; DATA];
    tree.read(5, &mut data).unwrap();
    assert_eq!(data, [0xA5; DATA]);
    tree.read(3, &mut data).unwrap();
    assert_eq!(data, [0; DATA]);
}

/// Goal: an error of a chip that is driven in Rust comes back as it was.
#[test]
fn errors_pass_through() {
    let mut flash = Ram::new(32);
    flash.bus_error = true;
    let config = TreeConfig::default();
    let mut ram = vec![0u64; config.ram_words(&flash.geometry())];
    let mut state = TreeState::new();
    let mut chip = Custom::new(&mut flash);
    let result = Tree::mount(&mut state, chip.open().unwrap(), &config, &mut ram);
    assert_eq!(result.err(), Some(Error::IO));
    assert!(format!("{} {:?}", Error::BUSY, Error(-99)).contains("unknown error"));
}

/// Goal: embedded-storage's trait reads and writes any bytes, across sectors, as a plain array does.
#[test]
fn storage_like_an_array() {
    let mut flash = Ram::new(32);
    let config = TreeConfig::default();
    let mut ram = vec![0u64; config.ram_words(&flash.geometry())];
    let mut state = TreeState::new();
    let mut chip = Custom::new(&mut flash);
    let mut tree = Tree::format(&mut state, chip.open().unwrap(), &config, &mut ram).unwrap();
    assert_eq!(Bytes::new(&mut tree, &mut [0; 511]).err(), Some(Error::RAM)); // one byte short
    let mut sector = [0; DATA];
    let mut bytes = Bytes::new(&mut tree, &mut sector).unwrap();
    let mut plain = vec![0u8; bytes.capacity()];
    let mut random = 1u32;
    for round in 0..300u32 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = (random >> 16) as usize % 1300;
        let at = (random >> 3) as usize % (plain.len() - length);
        plain[at..at + length].fill(round as u8);
        bytes.write(at as u32, &plain[at..at + length]).unwrap();
        let from = at.saturating_sub(200);
        let mut read = vec![0; (length + 300).min(plain.len() - from)];
        bytes.read(from as u32, &mut read).unwrap();
        assert_eq!(read, plain[from..from + read.len()]);
    }
    let end = bytes.capacity() as u32;
    assert_eq!(bytes.write(end - 1, &[0; 2]), Err(Error::RANGE));
    assert_eq!(bytes.read(end, &mut [0; 1]), Err(Error::RANGE));
}

/// A serial NOR as embedded-storage has it; bits only go from 1 to 0.
struct Array(Vec<u8>);

#[derive(Debug)]
struct Never;

impl NorFlashError for Never {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl ErrorType for Array {
    type Error = Never;
}

impl ReadNorFlash for Array {
    const READ_SIZE: usize = 1;
    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Never> {
        bytes.copy_from_slice(&self.0[offset as usize..offset as usize + bytes.len()]);
        Ok(())
    }
    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Array {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = 4096;
    fn erase(&mut self, from: u32, to: u32) -> Result<(), Never> {
        self.0[from as usize..to as usize].fill(0xFF);
        Ok(())
    }
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Never> {
        for (to, from) in self.0[offset as usize..].iter_mut().zip(bytes) {
            *to &= from;
        }
        Ok(())
    }
}

/// Goal: every type of object keeps what was synced, on what embedded-storage calls NOR flash.
#[test]
fn store_on_nor() {
    let mut array = Array(vec![0xFF; 64 * 4096]);
    assert!(Nor::new(&mut array, 300).is_err());
    let config = StoreConfig::default();
    let mut nor = Nor::new(&mut array, 256).unwrap();
    let mut ram = vec![0u64; config.ram_words(&nor.geometry())];
    {
        let mut chip = Custom::new(&mut nor);
        let blank = Store::mount(chip.open().unwrap(), &config, &mut ram);
        assert_eq!(blank.err(), Some(Error::BLANK));
    }
    {
        let mut chip = Custom::new(&mut nor);
        let mut store = Store::format(chip.open().unwrap(), &config, &mut ram).unwrap();
        let queue = store.create("queue", Kind::Queue).unwrap();
        store.push(queue, b"first").unwrap();
        store.push(queue, b"second").unwrap();
        let stack = store.create("stack", Kind::Stack).unwrap();
        store.push(stack, b"below").unwrap();
        store.push(stack, b"top").unwrap();
        let array = store
            .create(
                "array",
                Kind::Array {
                    unit_bytes: 4,
                    count: 100,
                },
            )
            .unwrap();
        store.set(array, 42, &[1, 2, 3, 4]).unwrap();
        assert_eq!(store.set(array, 42, &[1, 2, 3]), Err(Error::RANGE));
        assert_eq!(store.get(array, 42, &mut [0; 8]), Err(Error::RANGE));
        let file = store.create("file", Kind::File { block_bytes: 0 }).unwrap();
        assert_eq!(store.write(file, 0, b"hello, flash"), Ok(12));
        let stream = store
            .create(
                "stream",
                Kind::Stream {
                    unit_bytes: 2,
                    expendable: true,
                },
            )
            .unwrap();
        store.append(stream, &[1, 2, 3, 4]).unwrap();
        assert_eq!(store.create("file", Kind::Stack).err(), Some(Error::EXISTS));
        assert_eq!(store.create("", Kind::Stack).err(), Some(Error::NAME));
        store.sync().unwrap();
        assert!(store.space().used_bytes > 0);
    }
    let mut chip = Custom::new(&mut nor);
    let mut store = Store::mount(chip.open().unwrap(), &config, &mut ram).unwrap();
    let mut data = [0; 16];
    let queue = store.find("queue").unwrap();
    assert_eq!(store.dequeue(queue, &mut data).unwrap(), b"first");
    let stack = store.find("stack").unwrap();
    assert_eq!(store.pop(stack, &mut data).unwrap(), b"top");
    assert_eq!(store.pop(queue, &mut data).err(), Some(Error::TYPE));
    let array = store.find("array").unwrap();
    let mut value = [0; 4];
    store.get(array, 42, &mut value).unwrap();
    assert_eq!(value, [1, 2, 3, 4]);
    assert_eq!(store.get(array, 41, &mut value), Err(Error::NOT_FOUND));
    let file = store.find("file").unwrap();
    assert_eq!(store.read(file, 7, &mut data).unwrap(), b"flash");
    let stream = store.find("stream").unwrap();
    let mut cursor = store.first(stream).unwrap();
    assert_eq!(store.next(&mut cursor, &mut data).unwrap(), [1, 2, 3, 4]);
    assert_eq!(store.next(&mut cursor, &mut data).unwrap(), []);
    store.delete(file).unwrap();
    assert_eq!(store.find("file").err(), Some(Error::NOT_FOUND));
    store.idle(4).unwrap();
}
