// SPDX-License-Identifier: Apache-2.0
//! littlefs: one file, synced after each batch or overwrite.
use crate::chip::Chip;
use crate::work::{self, Keys};
use littlefs2_sys as lfs;
use std::ffi::{c_int, c_void, CStr};

const NAME: &CStr = c"data";

fn chip_of<'a>(config: *const lfs::lfs_config) -> &'a mut Chip {
    unsafe { &mut *((*config).context as *mut Chip) }
}

unsafe extern "C" fn read(
    config: *const lfs::lfs_config,
    block: u32,
    offset: u32,
    buffer: *mut c_void,
    size: u32,
) -> c_int {
    let chip = chip_of(config);
    let at = block as usize * chip.shape.block() + offset as usize;
    chip.read(at, std::slice::from_raw_parts_mut(buffer as *mut u8, size as usize));
    0
}

unsafe extern "C" fn program(
    config: *const lfs::lfs_config,
    block: u32,
    offset: u32,
    buffer: *const c_void,
    size: u32,
) -> c_int {
    let chip = chip_of(config);
    let at = block as usize * chip.shape.block() + offset as usize;
    chip.program(at, std::slice::from_raw_parts(buffer as *const u8, size as usize));
    0
}

unsafe extern "C" fn erase(config: *const lfs::lfs_config, block: u32) -> c_int {
    chip_of(config).erase(block as usize);
    0
}

unsafe extern "C" fn sync(_config: *const lfs::lfs_config) -> c_int {
    0
}

/// A mounted file system with one open file; everything lies where C may point at it.
struct Mounted {
    chip: Box<Chip>,
    config: Box<lfs::lfs_config>,
    fs: Box<lfs::lfs_t>,
    file: Box<lfs::lfs_file_t>,
    file_config: Box<lfs::lfs_file_config>,
    buffers: Vec<Vec<u8>>,
}

fn checked(result: i32) -> i32 {
    assert!(result >= 0, "littlefs answers {result}");
    result
}

impl Mounted {
    /// NAND is read and programmed by pages; NOR is read by 16 bytes.
    fn new(chip: Chip) -> Self {
        let page = chip.shape.page;
        let is_nor = page == 256;
        let mut buffers = vec![vec![0u8; page]; 3];
        buffers.push(vec![0u8; 16]);
        let mut chip = Box::new(chip);
        let mut config: Box<lfs::lfs_config> = Box::default();
        config.context = &mut *chip as *mut Chip as *mut c_void;
        config.read = Some(read);
        config.prog = Some(program);
        config.erase = Some(erase);
        config.sync = Some(sync);
        config.read_size = if is_nor { 16 } else { page as u32 };
        config.prog_size = page as u32;
        config.block_size = chip.shape.block() as u32;
        config.block_count = chip.shape.blocks as u32;
        config.block_cycles = 500;
        config.cache_size = page as u32;
        config.lookahead_size = 16;
        config.read_buffer = buffers[0].as_mut_ptr() as *mut c_void;
        config.prog_buffer = buffers[1].as_mut_ptr() as *mut c_void;
        config.lookahead_buffer = buffers[3].as_mut_ptr() as *mut c_void;
        let mut file_config: Box<lfs::lfs_file_config> = Box::default();
        file_config.buffer = buffers[2].as_mut_ptr() as *mut c_void;
        let mut mounted = Self {
            chip,
            config,
            fs: Box::default(),
            file: Box::default(),
            file_config,
            buffers,
        };
        unsafe {
            checked(lfs::lfs_format(&mut *mounted.fs, &*mounted.config));
            checked(lfs::lfs_mount(&mut *mounted.fs, &*mounted.config));
        }
        assert!(mounted.buffers.len() == 4);
        mounted.chip.reset();
        mounted
    }

    fn open(&mut self) {
        let flags = lfs::lfs_open_flags_LFS_O_CREAT | lfs::lfs_open_flags_LFS_O_RDWR;
        unsafe {
            checked(lfs::lfs_file_opencfg(
                &mut *self.fs,
                &mut *self.file,
                NAME.as_ptr(),
                flags as i32,
                &*self.file_config,
            ));
        }
    }

    fn close(&mut self) {
        unsafe { checked(lfs::lfs_file_close(&mut *self.fs, &mut *self.file)) };
    }

    fn write(&mut self, data: &[u8]) {
        let bytes = data.len() as u32;
        unsafe {
            let from = data.as_ptr() as *const c_void;
            checked(lfs::lfs_file_write(&mut *self.fs, &mut *self.file, from, bytes));
        }
    }

    fn sync(&mut self) {
        unsafe { checked(lfs::lfs_file_sync(&mut *self.fs, &mut *self.file)) };
    }

    fn seek(&mut self, at: u32) {
        let set = lfs::lfs_whence_flags_LFS_SEEK_SET as i32;
        unsafe { checked(lfs::lfs_file_seek(&mut *self.fs, &mut *self.file, at as i32, set)) };
    }

    fn expect(&mut self, data: &[u8]) {
        let mut found = vec![0u8; data.len()];
        let into = found.as_mut_ptr() as *mut c_void;
        let bytes = data.len() as u32;
        let length =
            unsafe { lfs::lfs_file_read(&mut *self.fs, &mut *self.file, into, bytes) };
        assert!(checked(length) as u32 == bytes && found == data, "littlefs read other bytes");
    }
}

fn append(name: &str, chip: Chip) {
    let mut fs = Mounted::new(chip);
    fs.open();
    for number in 0..work::BATCHES {
        fs.write(&work::batch(number));
        fs.sync();
        fs.chip.call_done();
    }
    fs.chip.tell(name, "append");
    fs.close();
    fs.chip.reset();
    fs.open();
    for number in 0..work::BATCHES {
        fs.expect(&work::batch(number));
    }
    fs.chip.tell(name, "read-back");
    fs.close();
}

fn small(name: &str, chip: Chip) {
    let mut fs = Mounted::new(chip);
    fs.open();
    for number in 0..work::PIECES {
        fs.write(&work::piece(number));
    }
    fs.close();
    fs.open();
    for number in 0..work::PIECES {
        fs.expect(&work::piece(number));
    }
    fs.close();
    fs.chip.tell(name, "small");
}

fn overwrite(name: &str, chip: Chip) {
    let mut fs = Mounted::new(chip);
    let mut last = vec![0; work::VALUES as usize];
    let mut keys = Keys::new();
    fs.open();
    for key in 0..work::VALUES {
        fs.write(&work::value(key, 0));
    }
    fs.sync();
    fs.chip.reset();
    for round in 1..=work::OVERWRITES {
        let key = keys.key();
        fs.seek(key * work::VALUE_BYTES as u32);
        fs.write(&work::value(key, round));
        fs.sync();
        last[key as usize] = round;
        fs.chip.call_done();
    }
    fs.chip.tell(name, "overwrite");
    fs.seek(0);
    for key in 0..work::VALUES {
        fs.expect(&work::value(key, last[key as usize]));
    }
    fs.close();
}

pub fn run(fresh: impl Fn() -> Chip) {
    let version = format!("{}.{}", lfs::LFS_VERSION >> 16, lfs::LFS_VERSION & 0xffff);
    let name = format!("littlefs {version}");
    append(&name, fresh());
    small(&name, fresh());
    overwrite(&name, fresh());
}
