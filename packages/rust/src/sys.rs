// SPDX-License-Identifier: Apache-2.0
//! The C interface as it is. Made by tools/rust_bindings.py; do not edit.
#![allow(non_camel_case_types, missing_docs, clippy::missing_safety_doc)]

use core::ffi::{c_char, c_int, c_void};
use core::mem::{offset_of, size_of};

/// As in stats.h.
#[cfg(target_pointer_width = "64")]
pub type nw_count = u64;
#[cfg(not(target_pointer_width = "64"))]
pub type nw_count = u32;

pub const NW_OK: c_int = 0;
pub const NW_ERR_CONFIG: c_int = -1;
pub const NW_ERR_RAM: c_int = -2;
pub const NW_ERR_RANGE: c_int = -3;
pub const NW_ERR_ALIGN: c_int = -4;
pub const NW_ERR_UNSUPPORTED: c_int = -5;
pub const NW_ERR_BAD_BLOCK: c_int = -6;
pub const NW_ERR_PROGRAM: c_int = -7;
pub const NW_ERR_ERASE: c_int = -8;
pub const NW_ERR_ECC: c_int = -9;
pub const NW_ERR_POWER: c_int = -10;
pub const NW_ERR_NOT_ERASED: c_int = -11;
pub const NW_ERR_PROGRAMS: c_int = -12;
pub const NW_ERR_ORDER: c_int = -13;
pub const NW_ERR_UNWRITTEN: c_int = -14;
pub const NW_ERR_FULL: c_int = -15;
pub const NW_ERR_CORRUPT: c_int = -16;
pub const NW_ERR_VERSION: c_int = -17;
pub const NW_ERR_NOT_FOUND: c_int = -18;
pub const NW_ERR_PINNED: c_int = -19;
pub const NW_ERR_IO: c_int = -20;
pub const NW_ERR_TYPE: c_int = -21;
pub const NW_ERR_EXISTS: c_int = -22;
pub const NW_ERR_NAME: c_int = -23;
pub const NW_ERR_TAG: c_int = -24;
pub const NW_ERR_KEY: c_int = -25;
pub const NW_ERR_TAMPERED: c_int = -26;
pub const NW_ERR_BLANK: c_int = -27;
pub const NW_ERR_BUSY: c_int = -28;
pub const NW_ERR_READ_ONLY: c_int = -29;
pub const NW_HINT_NONE: c_int = 0;
pub const NW_HINT_DATA: c_int = 1;
pub const NW_HINT_METADATA: c_int = 2;
pub const NW_HINT_JOURNAL: c_int = 3;
pub const NW_FTL_TREE_READ: c_int = 0;
pub const NW_FTL_TREE_CHANGE: c_int = 1;
pub const NW_FTL_TREE_STEP: c_int = 2;
pub const NW_FTL_TREE_MOUNT: c_int = 3;
pub const NW_STORE_STACK: c_int = 1;
pub const NW_STORE_QUEUE: c_int = 2;
pub const NW_STORE_STREAM: c_int = 3;
pub const NW_STORE_ARRAY: c_int = 4;
pub const NW_STORE_FILE: c_int = 5;
pub const NW_CHIP_IN_ORDER: u32 = 0x01;
pub const NW_CHIP_READ_ERASED: u32 = 0x02;
pub const NW_CHIP_NO_PAYLOAD: u32 = 0x04;
pub const NW_CHIP_REWRITE: u32 = 0x08;
pub const NW_PROGRAMS_UNLIMITED: u32 = 0xFF;
pub const NW_BLOCK_PERSISTENT: u32 = 0x01;
pub const NW_STORE_CHECKPOINTS: u32 = 3;
pub const NW_STORE_EXPENDABLE: u32 = 0x01;
pub const NW_STORE_TAG_BYTES: u32 = 6;
pub const NW_SPI_END: u32 = 0;
pub const NW_SPI_SELECT: u32 = 1;
pub const NW_SPI_RAISE: u32 = 2;
pub const NW_SPI_NAND_ECC_W25N: u32 = 0xFF10FF10;
pub const NW_SPI_NAND_ECC_GD5F_Q4: u32 = 0x8F708F70;
pub const NW_SPI_NAND_ECC_GD5F_Q5: u32 = 0x4F404F40;
pub const NW_SPI_NAND_ECC_MX35: u32 = 0xFF40FF40;
pub const NW_SPI_NAND_ECC_MT29: u32 = 0xFF8F6F30;
pub const NW_SPI_NAND_BIT_0_GOES_ON: u32 = 0x20;
pub const NW_SPI_NAND_BIT_3_STOPS: u32 = 0x08;
pub const NW_SPI_NAND_TWO_PLANES: u32 = 0x02;
pub const NW_SPI_NAND_FOUR_PROGRAMS: u32 = 0x04;
pub const NW_SPI_NAND_SPARE_HIGH: u32 = 0x10;
pub const NW_SPI_NAND_BIT_0_QUAD: u32 = 0x01;

#[repr(C)]
pub struct nw_seal {
    _private: [u8; 0],
}

#[repr(C)]
pub struct nw_store {
    _private: [u8; 0],
}

#[repr(C)]
pub struct nw_tree {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_stats {
    pub host_reads: nw_count,
    pub host_writes: nw_count,
    pub host_trims: nw_count,
    pub syncs: nw_count,
    pub reads: nw_count,
    pub programs: nw_count,
    pub erases: nw_count,
    pub bytes_read: nw_count,
    pub bytes_programmed: nw_count,
    pub copies: nw_count,
    pub map_reads: nw_count,
    pub map_programs: nw_count,
    pub merges_switch: nw_count,
    pub merges_partial: nw_count,
    pub merges_full: nw_count,
    pub corrected: nw_count,
    pub retired: nw_count,
    pub scrubbed: nw_count,
    pub lost: nw_count,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_geometry {
    pub blocks: u32,
    pub block_pages: u16,
    pub page_bytes: u16,
    pub spare_bytes: u16,
    pub program_bytes: u16,
    pub page_programs: u8,
    pub erased: u8,
    pub buffers: u8,
    pub flags: u8,
    pub endurance: u32,
    pub read_us: u32,
    pub program_us: u32,
    pub erase_us: u32,
    pub heal_us: u32,
    pub heal_life: u32,
    pub heal_step: u16,
    pub heal_limit: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_chip_req {
    pub chip: *mut nw_chip,
    pub block: u32,
    pub page: u32,
    pub to_page: u32,
    pub offset: u16,
    pub length: u16,
    pub spare_offset: u16,
    pub spare_length: u16,
    pub data: *mut u8,
    pub spare: *mut u8,
    pub buffer: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_chip_ops {
    pub read: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub program: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub erase: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub is_bad: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub mark_bad: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub copy: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub buffer_load: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub buffer_read: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub buffer_write: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub buffer_program: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
    pub heal: Option<unsafe extern "C" fn(*mut nw_chip_req) -> c_int>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_chip {
    pub ops: *const nw_chip_ops,
    pub context: *mut c_void,
    pub geometry: nw_geometry,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_block_req {
    pub block: *mut nw_block,
    pub sector: u32,
    pub count: u32,
    pub data: *mut u8,
    pub done: u32,
    pub budget_us: u32,
    pub app: u16,
    pub hint: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_block_ops {
    pub read: Option<unsafe extern "C" fn(*mut nw_block_req) -> c_int>,
    pub write: Option<unsafe extern "C" fn(*mut nw_block_req) -> c_int>,
    pub trim: Option<unsafe extern "C" fn(*mut nw_block_req) -> c_int>,
    pub sync: Option<unsafe extern "C" fn(*mut nw_block_req) -> c_int>,
    pub idle: Option<unsafe extern "C" fn(*mut nw_block_req) -> c_int>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_block {
    pub ops: *const nw_block_ops,
    pub context: *mut c_void,
    pub sectors: u32,
    pub sector_bytes: u16,
    pub flags: u8,
    pub stats: *mut nw_stats,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_ftl_tree_config {
    pub spare_blocks: u16,
    pub scrub_bits: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_ftl_tree {
    pub block: nw_block,
    pub stats: nw_stats,
    pub tree: *mut nw_tree,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_ftl_tree_most {
    pub reads: u32,
    pub programs: u32,
    pub erases: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_store_config {
    pub objects: u8,
    pub name_bytes: u8,
    pub frames: u8,
    pub fan: u8,
    pub checkpoints: u8,
    pub read_ahead: u8,
    pub anchor_bytes: u32,
    pub seal: *mut nw_seal,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_store_spec {
    pub r#type: u8,
    pub flags: u8,
    pub unit_bytes: u16,
    pub count: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_store_about {
    pub handle: c_int,
    pub spec: nw_store_spec,
    pub head: u32,
    pub tail: u32,
    pub bytes: u32,
    pub name: [c_char; 33],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_store_cursor {
    pub handle: c_int,
    pub chunk: u32,
    pub offset: u16,
    pub length: u16,
    pub at: u32,
    pub epoch: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_store_stats {
    pub reads: u32,
    pub programs: u32,
    pub erases: u32,
    pub bytes_read: u32,
    pub bytes_programmed: u32,
    pub nodes_written: u32,
    pub anchors: u32,
    pub moved: u32,
    pub bytes_moved: u32,
    pub dropped: u32,
    pub corrected: u32,
    pub lost: u32,
    pub retired: u32,
    pub swapped: u32,
    pub place: u32,
    pub tampered: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_store_space {
    pub used_bytes: u32,
    pub limit_bytes: u32,
    pub put_bytes: u32,
    pub free_blocks: u32,
    pub good_blocks: u32,
    pub sequence: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_spi_ops {
    pub select: Option<unsafe extern "C" fn(*mut nw_spi, u8) -> c_int>,
    pub transfer: Option<unsafe extern "C" fn(*mut nw_spi, *const u8, *mut u8, u16) -> c_int>,
    pub wait: Option<unsafe extern "C" fn(*mut nw_spi, u16) -> c_int>,
    pub clock: Option<unsafe extern "C" fn(*mut nw_spi, u32) -> c_int>,
    pub read4: Option<unsafe extern "C" fn(*mut nw_spi, *mut u8, u16) -> c_int>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_spi {
    pub ops: *const nw_spi_ops,
    pub context: *mut c_void,
    pub khz: u32,
    pub busy: u8,
    pub status: u8,
    pub error: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_spi_nand_part {
    pub maker: u8,
    pub device: u8,
    pub third: u8,
    pub flags: u8,
    pub blocks: u16,
    pub page_bytes: u16,
    pub ecc: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_spi_nand {
    pub spi: *mut nw_spi,
    pub part: *const nw_spi_nand_part,
    pub id: [u8; 4],
    pub chip: nw_chip,
    pub held: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_spi_nor_maker {
    pub maker: u8,
    pub failed_code: u8,
    pub program_failed: u8,
    pub erase_failed: u8,
    pub clear_code: u8,
    pub protection: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct nw_spi_nor {
    pub spi: *mut nw_spi,
    pub maker: *const nw_spi_nor_maker,
    pub address_bytes: u8,
    pub erase_code: u8,
    pub id: [u8; 3],
    pub chip: nw_chip,
}

extern "C" {
    pub fn nw_error_text(error: c_int) -> *const c_char;
    pub fn nw_chip_read(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_program(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_erase(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_is_bad(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_mark_bad(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_copy(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_buffer_load(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_buffer_read(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_buffer_write(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_buffer_program(req: *mut nw_chip_req) -> c_int;
    pub fn nw_chip_heal(req: *mut nw_chip_req) -> c_int;
    pub fn nw_geometry_check(geometry: *const nw_geometry) -> c_int;
    pub fn nw_block_read(req: *mut nw_block_req) -> c_int;
    pub fn nw_block_write(req: *mut nw_block_req) -> c_int;
    pub fn nw_block_trim(req: *mut nw_block_req) -> c_int;
    pub fn nw_block_sync(req: *mut nw_block_req) -> c_int;
    pub fn nw_block_idle(req: *mut nw_block_req) -> c_int;
    pub fn nw_ftl_tree_ram_bytes(config: *const nw_ftl_tree_config, geometry: *const nw_geometry) -> usize;
    pub fn nw_ftl_tree_sectors(config: *const nw_ftl_tree_config, geometry: *const nw_geometry) -> u32;
    pub fn nw_ftl_tree_format(ftl: *mut nw_ftl_tree, chip: *mut nw_chip, config: *const nw_ftl_tree_config, ram: *mut c_void, ram_bytes: usize) -> c_int;
    pub fn nw_ftl_tree_mount(ftl: *mut nw_ftl_tree, chip: *mut nw_chip, config: *const nw_ftl_tree_config, ram: *mut c_void, ram_bytes: usize) -> c_int;
    pub fn nw_ftl_tree_mount_read_only(ftl: *mut nw_ftl_tree, chip: *mut nw_chip, config: *const nw_ftl_tree_config, ram: *mut c_void, ram_bytes: usize) -> c_int;
    pub fn nw_ftl_tree_longest(config: *const nw_ftl_tree_config, geometry: *const nw_geometry, call: c_int, most: *mut nw_ftl_tree_most) -> c_int;
    pub fn nw_store_ram_bytes(config: *const nw_store_config, geometry: *const nw_geometry) -> usize;
    pub fn nw_store_format(store: *mut *mut nw_store, chip: *mut nw_chip, config: *const nw_store_config, ram: *mut c_void, ram_bytes: usize) -> c_int;
    pub fn nw_store_mount(store: *mut *mut nw_store, chip: *mut nw_chip, config: *const nw_store_config, ram: *mut c_void, ram_bytes: usize) -> c_int;
    pub fn nw_store_mount_read_only(store: *mut *mut nw_store, chip: *mut nw_chip, config: *const nw_store_config, ram: *mut c_void, ram_bytes: usize) -> c_int;
    pub fn nw_store_sync(store: *mut nw_store) -> c_int;
    pub fn nw_store_create(store: *mut nw_store, name: *const c_char, spec: *const nw_store_spec) -> c_int;
    pub fn nw_store_find(store: *mut nw_store, name: *const c_char) -> c_int;
    pub fn nw_store_delete(store: *mut nw_store, handle: c_int) -> c_int;
    pub fn nw_store_rename(store: *mut nw_store, handle: c_int, name: *const c_char) -> c_int;
    pub fn nw_store_at(store: *mut nw_store, slot: u8, about: *mut nw_store_about) -> c_int;
    pub fn nw_store_push(store: *mut nw_store, handle: c_int, data: *const c_void, bytes: u16) -> c_int;
    pub fn nw_store_pop(store: *mut nw_store, handle: c_int, data: *mut c_void, bytes: u16) -> c_int;
    pub fn nw_store_dequeue(store: *mut nw_store, handle: c_int, data: *mut c_void, bytes: u16) -> c_int;
    pub fn nw_store_peek(store: *mut nw_store, handle: c_int, number: u32, data: *mut c_void, bytes: u16) -> c_int;
    pub fn nw_store_append(store: *mut nw_store, handle: c_int, data: *const c_void, bytes: u16) -> c_int;
    pub fn nw_store_trim(store: *mut nw_store, handle: c_int, chunk: u32) -> c_int;
    pub fn nw_store_first(store: *mut nw_store, handle: c_int, cursor: *mut nw_store_cursor) -> c_int;
    pub fn nw_store_last(store: *mut nw_store, handle: c_int, cursor: *mut nw_store_cursor) -> c_int;
    pub fn nw_store_seek(store: *mut nw_store, handle: c_int, chunk: u32, offset: u16, cursor: *mut nw_store_cursor) -> c_int;
    pub fn nw_store_next(store: *mut nw_store, cursor: *mut nw_store_cursor, data: *mut c_void, bytes: u16) -> c_int;
    pub fn nw_store_previous(store: *mut nw_store, cursor: *mut nw_store_cursor, data: *mut c_void, bytes: u16) -> c_int;
    pub fn nw_store_set(store: *mut nw_store, handle: c_int, key: u32, value: *const c_void) -> c_int;
    pub fn nw_store_get(store: *mut nw_store, handle: c_int, key: u32, value: *mut c_void) -> c_int;
    pub fn nw_store_next_key(store: *mut nw_store, handle: c_int, key: *mut u32) -> c_int;
    pub fn nw_store_tag(store: *mut nw_store, array: c_int, tag: u32, cursor: *const nw_store_cursor) -> c_int;
    pub fn nw_store_tagged(store: *mut nw_store, array: c_int, tag: u32, stream: c_int, cursor: *mut nw_store_cursor) -> c_int;
    pub fn nw_store_write(store: *mut nw_store, handle: c_int, offset: u32, data: *const c_void, bytes: u16) -> c_int;
    pub fn nw_store_read(store: *mut nw_store, handle: c_int, offset: u32, data: *mut c_void, bytes: u16) -> c_int;
    pub fn nw_store_length(store: *mut nw_store, handle: c_int, bytes: *mut u32) -> c_int;
    pub fn nw_store_truncate(store: *mut nw_store, handle: c_int, bytes: u32) -> c_int;
    pub fn nw_store_checkpoint(store: *mut nw_store) -> c_int;
    pub fn nw_store_rollback(store: *mut nw_store, checkpoint: c_int) -> c_int;
    pub fn nw_store_drop(store: *mut nw_store, checkpoint: c_int) -> c_int;
    pub fn nw_store_kept(store: *const nw_store, place: u8) -> c_int;
    pub fn nw_store_idle(store: *mut nw_store, budget: u16) -> c_int;
    pub fn nw_store_compact(store: *mut nw_store, handle: c_int, key: *mut u32, count: u16) -> c_int;
    pub fn nw_store_stats(store: *const nw_store) -> *const nw_store_stats;
    pub fn nw_store_space(store: *const nw_store, space: *mut nw_store_space);
    pub fn nw_spi_nand_open(nand: *mut nw_spi_nand, spi: *mut nw_spi, part: *const nw_spi_nand_part) -> c_int;
    pub fn nw_spi_nor_open(nor: *mut nw_spi_nor, spi: *mut nw_spi, maker: *const nw_spi_nor_maker) -> c_int;
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<nw_stats>() == 152);
    assert!(offset_of!(nw_stats, host_reads) == 0);
    assert!(offset_of!(nw_stats, host_writes) == 8);
    assert!(offset_of!(nw_stats, host_trims) == 16);
    assert!(offset_of!(nw_stats, syncs) == 24);
    assert!(offset_of!(nw_stats, reads) == 32);
    assert!(offset_of!(nw_stats, programs) == 40);
    assert!(offset_of!(nw_stats, erases) == 48);
    assert!(offset_of!(nw_stats, bytes_read) == 56);
    assert!(offset_of!(nw_stats, bytes_programmed) == 64);
    assert!(offset_of!(nw_stats, copies) == 72);
    assert!(offset_of!(nw_stats, map_reads) == 80);
    assert!(offset_of!(nw_stats, map_programs) == 88);
    assert!(offset_of!(nw_stats, merges_switch) == 96);
    assert!(offset_of!(nw_stats, merges_partial) == 104);
    assert!(offset_of!(nw_stats, merges_full) == 112);
    assert!(offset_of!(nw_stats, corrected) == 120);
    assert!(offset_of!(nw_stats, retired) == 128);
    assert!(offset_of!(nw_stats, scrubbed) == 136);
    assert!(offset_of!(nw_stats, lost) == 144);
    assert!(size_of::<nw_geometry>() == 44);
    assert!(offset_of!(nw_geometry, blocks) == 0);
    assert!(offset_of!(nw_geometry, block_pages) == 4);
    assert!(offset_of!(nw_geometry, page_bytes) == 6);
    assert!(offset_of!(nw_geometry, spare_bytes) == 8);
    assert!(offset_of!(nw_geometry, program_bytes) == 10);
    assert!(offset_of!(nw_geometry, page_programs) == 12);
    assert!(offset_of!(nw_geometry, erased) == 13);
    assert!(offset_of!(nw_geometry, buffers) == 14);
    assert!(offset_of!(nw_geometry, flags) == 15);
    assert!(offset_of!(nw_geometry, endurance) == 16);
    assert!(offset_of!(nw_geometry, read_us) == 20);
    assert!(offset_of!(nw_geometry, program_us) == 24);
    assert!(offset_of!(nw_geometry, erase_us) == 28);
    assert!(offset_of!(nw_geometry, heal_us) == 32);
    assert!(offset_of!(nw_geometry, heal_life) == 36);
    assert!(offset_of!(nw_geometry, heal_step) == 40);
    assert!(offset_of!(nw_geometry, heal_limit) == 42);
    assert!(size_of::<nw_chip_req>() == 56);
    assert!(offset_of!(nw_chip_req, chip) == 0);
    assert!(offset_of!(nw_chip_req, block) == 8);
    assert!(offset_of!(nw_chip_req, page) == 12);
    assert!(offset_of!(nw_chip_req, to_page) == 16);
    assert!(offset_of!(nw_chip_req, offset) == 20);
    assert!(offset_of!(nw_chip_req, length) == 22);
    assert!(offset_of!(nw_chip_req, spare_offset) == 24);
    assert!(offset_of!(nw_chip_req, spare_length) == 26);
    assert!(offset_of!(nw_chip_req, data) == 32);
    assert!(offset_of!(nw_chip_req, spare) == 40);
    assert!(offset_of!(nw_chip_req, buffer) == 48);
    assert!(size_of::<nw_chip_ops>() == 88);
    assert!(offset_of!(nw_chip_ops, read) == 0);
    assert!(offset_of!(nw_chip_ops, program) == 8);
    assert!(offset_of!(nw_chip_ops, erase) == 16);
    assert!(offset_of!(nw_chip_ops, is_bad) == 24);
    assert!(offset_of!(nw_chip_ops, mark_bad) == 32);
    assert!(offset_of!(nw_chip_ops, copy) == 40);
    assert!(offset_of!(nw_chip_ops, buffer_load) == 48);
    assert!(offset_of!(nw_chip_ops, buffer_read) == 56);
    assert!(offset_of!(nw_chip_ops, buffer_write) == 64);
    assert!(offset_of!(nw_chip_ops, buffer_program) == 72);
    assert!(offset_of!(nw_chip_ops, heal) == 80);
    assert!(size_of::<nw_chip>() == 64);
    assert!(offset_of!(nw_chip, ops) == 0);
    assert!(offset_of!(nw_chip, context) == 8);
    assert!(offset_of!(nw_chip, geometry) == 16);
    assert!(size_of::<nw_block_req>() == 40);
    assert!(offset_of!(nw_block_req, block) == 0);
    assert!(offset_of!(nw_block_req, sector) == 8);
    assert!(offset_of!(nw_block_req, count) == 12);
    assert!(offset_of!(nw_block_req, data) == 16);
    assert!(offset_of!(nw_block_req, done) == 24);
    assert!(offset_of!(nw_block_req, budget_us) == 28);
    assert!(offset_of!(nw_block_req, app) == 32);
    assert!(offset_of!(nw_block_req, hint) == 34);
    assert!(size_of::<nw_block_ops>() == 40);
    assert!(offset_of!(nw_block_ops, read) == 0);
    assert!(offset_of!(nw_block_ops, write) == 8);
    assert!(offset_of!(nw_block_ops, trim) == 16);
    assert!(offset_of!(nw_block_ops, sync) == 24);
    assert!(offset_of!(nw_block_ops, idle) == 32);
    assert!(size_of::<nw_block>() == 32);
    assert!(offset_of!(nw_block, ops) == 0);
    assert!(offset_of!(nw_block, context) == 8);
    assert!(offset_of!(nw_block, sectors) == 16);
    assert!(offset_of!(nw_block, sector_bytes) == 20);
    assert!(offset_of!(nw_block, flags) == 22);
    assert!(offset_of!(nw_block, stats) == 24);
    assert!(size_of::<nw_ftl_tree_config>() == 4);
    assert!(offset_of!(nw_ftl_tree_config, spare_blocks) == 0);
    assert!(offset_of!(nw_ftl_tree_config, scrub_bits) == 2);
    assert!(size_of::<nw_ftl_tree>() == 192);
    assert!(offset_of!(nw_ftl_tree, block) == 0);
    assert!(offset_of!(nw_ftl_tree, stats) == 32);
    assert!(offset_of!(nw_ftl_tree, tree) == 184);
    assert!(size_of::<nw_ftl_tree_most>() == 12);
    assert!(offset_of!(nw_ftl_tree_most, reads) == 0);
    assert!(offset_of!(nw_ftl_tree_most, programs) == 4);
    assert!(offset_of!(nw_ftl_tree_most, erases) == 8);
    assert!(size_of::<nw_store_config>() == 24);
    assert!(offset_of!(nw_store_config, objects) == 0);
    assert!(offset_of!(nw_store_config, name_bytes) == 1);
    assert!(offset_of!(nw_store_config, frames) == 2);
    assert!(offset_of!(nw_store_config, fan) == 3);
    assert!(offset_of!(nw_store_config, checkpoints) == 4);
    assert!(offset_of!(nw_store_config, read_ahead) == 5);
    assert!(offset_of!(nw_store_config, anchor_bytes) == 8);
    assert!(offset_of!(nw_store_config, seal) == 16);
    assert!(size_of::<nw_store_spec>() == 8);
    assert!(offset_of!(nw_store_spec, r#type) == 0);
    assert!(offset_of!(nw_store_spec, flags) == 1);
    assert!(offset_of!(nw_store_spec, unit_bytes) == 2);
    assert!(offset_of!(nw_store_spec, count) == 4);
    assert!(size_of::<nw_store_about>() == 60);
    assert!(offset_of!(nw_store_about, handle) == 0);
    assert!(offset_of!(nw_store_about, spec) == 4);
    assert!(offset_of!(nw_store_about, head) == 12);
    assert!(offset_of!(nw_store_about, tail) == 16);
    assert!(offset_of!(nw_store_about, bytes) == 20);
    assert!(offset_of!(nw_store_about, name) == 24);
    assert!(size_of::<nw_store_cursor>() == 20);
    assert!(offset_of!(nw_store_cursor, handle) == 0);
    assert!(offset_of!(nw_store_cursor, chunk) == 4);
    assert!(offset_of!(nw_store_cursor, offset) == 8);
    assert!(offset_of!(nw_store_cursor, length) == 10);
    assert!(offset_of!(nw_store_cursor, at) == 12);
    assert!(offset_of!(nw_store_cursor, epoch) == 16);
    assert!(size_of::<nw_store_stats>() == 64);
    assert!(offset_of!(nw_store_stats, reads) == 0);
    assert!(offset_of!(nw_store_stats, programs) == 4);
    assert!(offset_of!(nw_store_stats, erases) == 8);
    assert!(offset_of!(nw_store_stats, bytes_read) == 12);
    assert!(offset_of!(nw_store_stats, bytes_programmed) == 16);
    assert!(offset_of!(nw_store_stats, nodes_written) == 20);
    assert!(offset_of!(nw_store_stats, anchors) == 24);
    assert!(offset_of!(nw_store_stats, moved) == 28);
    assert!(offset_of!(nw_store_stats, bytes_moved) == 32);
    assert!(offset_of!(nw_store_stats, dropped) == 36);
    assert!(offset_of!(nw_store_stats, corrected) == 40);
    assert!(offset_of!(nw_store_stats, lost) == 44);
    assert!(offset_of!(nw_store_stats, retired) == 48);
    assert!(offset_of!(nw_store_stats, swapped) == 52);
    assert!(offset_of!(nw_store_stats, place) == 56);
    assert!(offset_of!(nw_store_stats, tampered) == 60);
    assert!(size_of::<nw_store_space>() == 24);
    assert!(offset_of!(nw_store_space, used_bytes) == 0);
    assert!(offset_of!(nw_store_space, limit_bytes) == 4);
    assert!(offset_of!(nw_store_space, put_bytes) == 8);
    assert!(offset_of!(nw_store_space, free_blocks) == 12);
    assert!(offset_of!(nw_store_space, good_blocks) == 16);
    assert!(offset_of!(nw_store_space, sequence) == 20);
    assert!(size_of::<nw_spi_ops>() == 40);
    assert!(offset_of!(nw_spi_ops, select) == 0);
    assert!(offset_of!(nw_spi_ops, transfer) == 8);
    assert!(offset_of!(nw_spi_ops, wait) == 16);
    assert!(offset_of!(nw_spi_ops, clock) == 24);
    assert!(offset_of!(nw_spi_ops, read4) == 32);
    assert!(size_of::<nw_spi>() == 32);
    assert!(offset_of!(nw_spi, ops) == 0);
    assert!(offset_of!(nw_spi, context) == 8);
    assert!(offset_of!(nw_spi, khz) == 16);
    assert!(offset_of!(nw_spi, busy) == 20);
    assert!(offset_of!(nw_spi, status) == 21);
    assert!(offset_of!(nw_spi, error) == 24);
    assert!(size_of::<nw_spi_nand_part>() == 12);
    assert!(offset_of!(nw_spi_nand_part, maker) == 0);
    assert!(offset_of!(nw_spi_nand_part, device) == 1);
    assert!(offset_of!(nw_spi_nand_part, third) == 2);
    assert!(offset_of!(nw_spi_nand_part, flags) == 3);
    assert!(offset_of!(nw_spi_nand_part, blocks) == 4);
    assert!(offset_of!(nw_spi_nand_part, page_bytes) == 6);
    assert!(offset_of!(nw_spi_nand_part, ecc) == 8);
    assert!(size_of::<nw_spi_nand>() == 96);
    assert!(offset_of!(nw_spi_nand, spi) == 0);
    assert!(offset_of!(nw_spi_nand, part) == 8);
    assert!(offset_of!(nw_spi_nand, id) == 16);
    assert!(offset_of!(nw_spi_nand, chip) == 24);
    assert!(offset_of!(nw_spi_nand, held) == 88);
    assert!(size_of::<nw_spi_nor_maker>() == 6);
    assert!(offset_of!(nw_spi_nor_maker, maker) == 0);
    assert!(offset_of!(nw_spi_nor_maker, failed_code) == 1);
    assert!(offset_of!(nw_spi_nor_maker, program_failed) == 2);
    assert!(offset_of!(nw_spi_nor_maker, erase_failed) == 3);
    assert!(offset_of!(nw_spi_nor_maker, clear_code) == 4);
    assert!(offset_of!(nw_spi_nor_maker, protection) == 5);
    assert!(size_of::<nw_spi_nor>() == 88);
    assert!(offset_of!(nw_spi_nor, spi) == 0);
    assert!(offset_of!(nw_spi_nor, maker) == 8);
    assert!(offset_of!(nw_spi_nor, address_bytes) == 16);
    assert!(offset_of!(nw_spi_nor, erase_code) == 17);
    assert!(offset_of!(nw_spi_nor, id) == 18);
    assert!(offset_of!(nw_spi_nor, chip) == 24);
};

#[cfg(target_pointer_width = "32")]
const _: () = {
    assert!(size_of::<nw_stats>() == 76);
    assert!(offset_of!(nw_stats, host_reads) == 0);
    assert!(offset_of!(nw_stats, host_writes) == 4);
    assert!(offset_of!(nw_stats, host_trims) == 8);
    assert!(offset_of!(nw_stats, syncs) == 12);
    assert!(offset_of!(nw_stats, reads) == 16);
    assert!(offset_of!(nw_stats, programs) == 20);
    assert!(offset_of!(nw_stats, erases) == 24);
    assert!(offset_of!(nw_stats, bytes_read) == 28);
    assert!(offset_of!(nw_stats, bytes_programmed) == 32);
    assert!(offset_of!(nw_stats, copies) == 36);
    assert!(offset_of!(nw_stats, map_reads) == 40);
    assert!(offset_of!(nw_stats, map_programs) == 44);
    assert!(offset_of!(nw_stats, merges_switch) == 48);
    assert!(offset_of!(nw_stats, merges_partial) == 52);
    assert!(offset_of!(nw_stats, merges_full) == 56);
    assert!(offset_of!(nw_stats, corrected) == 60);
    assert!(offset_of!(nw_stats, retired) == 64);
    assert!(offset_of!(nw_stats, scrubbed) == 68);
    assert!(offset_of!(nw_stats, lost) == 72);
    assert!(size_of::<nw_geometry>() == 44);
    assert!(offset_of!(nw_geometry, blocks) == 0);
    assert!(offset_of!(nw_geometry, block_pages) == 4);
    assert!(offset_of!(nw_geometry, page_bytes) == 6);
    assert!(offset_of!(nw_geometry, spare_bytes) == 8);
    assert!(offset_of!(nw_geometry, program_bytes) == 10);
    assert!(offset_of!(nw_geometry, page_programs) == 12);
    assert!(offset_of!(nw_geometry, erased) == 13);
    assert!(offset_of!(nw_geometry, buffers) == 14);
    assert!(offset_of!(nw_geometry, flags) == 15);
    assert!(offset_of!(nw_geometry, endurance) == 16);
    assert!(offset_of!(nw_geometry, read_us) == 20);
    assert!(offset_of!(nw_geometry, program_us) == 24);
    assert!(offset_of!(nw_geometry, erase_us) == 28);
    assert!(offset_of!(nw_geometry, heal_us) == 32);
    assert!(offset_of!(nw_geometry, heal_life) == 36);
    assert!(offset_of!(nw_geometry, heal_step) == 40);
    assert!(offset_of!(nw_geometry, heal_limit) == 42);
    assert!(size_of::<nw_chip_req>() == 36);
    assert!(offset_of!(nw_chip_req, chip) == 0);
    assert!(offset_of!(nw_chip_req, block) == 4);
    assert!(offset_of!(nw_chip_req, page) == 8);
    assert!(offset_of!(nw_chip_req, to_page) == 12);
    assert!(offset_of!(nw_chip_req, offset) == 16);
    assert!(offset_of!(nw_chip_req, length) == 18);
    assert!(offset_of!(nw_chip_req, spare_offset) == 20);
    assert!(offset_of!(nw_chip_req, spare_length) == 22);
    assert!(offset_of!(nw_chip_req, data) == 24);
    assert!(offset_of!(nw_chip_req, spare) == 28);
    assert!(offset_of!(nw_chip_req, buffer) == 32);
    assert!(size_of::<nw_chip_ops>() == 44);
    assert!(offset_of!(nw_chip_ops, read) == 0);
    assert!(offset_of!(nw_chip_ops, program) == 4);
    assert!(offset_of!(nw_chip_ops, erase) == 8);
    assert!(offset_of!(nw_chip_ops, is_bad) == 12);
    assert!(offset_of!(nw_chip_ops, mark_bad) == 16);
    assert!(offset_of!(nw_chip_ops, copy) == 20);
    assert!(offset_of!(nw_chip_ops, buffer_load) == 24);
    assert!(offset_of!(nw_chip_ops, buffer_read) == 28);
    assert!(offset_of!(nw_chip_ops, buffer_write) == 32);
    assert!(offset_of!(nw_chip_ops, buffer_program) == 36);
    assert!(offset_of!(nw_chip_ops, heal) == 40);
    assert!(size_of::<nw_chip>() == 52);
    assert!(offset_of!(nw_chip, ops) == 0);
    assert!(offset_of!(nw_chip, context) == 4);
    assert!(offset_of!(nw_chip, geometry) == 8);
    assert!(size_of::<nw_block_req>() == 28);
    assert!(offset_of!(nw_block_req, block) == 0);
    assert!(offset_of!(nw_block_req, sector) == 4);
    assert!(offset_of!(nw_block_req, count) == 8);
    assert!(offset_of!(nw_block_req, data) == 12);
    assert!(offset_of!(nw_block_req, done) == 16);
    assert!(offset_of!(nw_block_req, budget_us) == 20);
    assert!(offset_of!(nw_block_req, app) == 24);
    assert!(offset_of!(nw_block_req, hint) == 26);
    assert!(size_of::<nw_block_ops>() == 20);
    assert!(offset_of!(nw_block_ops, read) == 0);
    assert!(offset_of!(nw_block_ops, write) == 4);
    assert!(offset_of!(nw_block_ops, trim) == 8);
    assert!(offset_of!(nw_block_ops, sync) == 12);
    assert!(offset_of!(nw_block_ops, idle) == 16);
    assert!(size_of::<nw_block>() == 20);
    assert!(offset_of!(nw_block, ops) == 0);
    assert!(offset_of!(nw_block, context) == 4);
    assert!(offset_of!(nw_block, sectors) == 8);
    assert!(offset_of!(nw_block, sector_bytes) == 12);
    assert!(offset_of!(nw_block, flags) == 14);
    assert!(offset_of!(nw_block, stats) == 16);
    assert!(size_of::<nw_ftl_tree_config>() == 4);
    assert!(offset_of!(nw_ftl_tree_config, spare_blocks) == 0);
    assert!(offset_of!(nw_ftl_tree_config, scrub_bits) == 2);
    assert!(size_of::<nw_ftl_tree>() == 100);
    assert!(offset_of!(nw_ftl_tree, block) == 0);
    assert!(offset_of!(nw_ftl_tree, stats) == 20);
    assert!(offset_of!(nw_ftl_tree, tree) == 96);
    assert!(size_of::<nw_ftl_tree_most>() == 12);
    assert!(offset_of!(nw_ftl_tree_most, reads) == 0);
    assert!(offset_of!(nw_ftl_tree_most, programs) == 4);
    assert!(offset_of!(nw_ftl_tree_most, erases) == 8);
    assert!(size_of::<nw_store_config>() == 16);
    assert!(offset_of!(nw_store_config, objects) == 0);
    assert!(offset_of!(nw_store_config, name_bytes) == 1);
    assert!(offset_of!(nw_store_config, frames) == 2);
    assert!(offset_of!(nw_store_config, fan) == 3);
    assert!(offset_of!(nw_store_config, checkpoints) == 4);
    assert!(offset_of!(nw_store_config, read_ahead) == 5);
    assert!(offset_of!(nw_store_config, anchor_bytes) == 8);
    assert!(offset_of!(nw_store_config, seal) == 12);
    assert!(size_of::<nw_store_spec>() == 8);
    assert!(offset_of!(nw_store_spec, r#type) == 0);
    assert!(offset_of!(nw_store_spec, flags) == 1);
    assert!(offset_of!(nw_store_spec, unit_bytes) == 2);
    assert!(offset_of!(nw_store_spec, count) == 4);
    assert!(size_of::<nw_store_about>() == 60);
    assert!(offset_of!(nw_store_about, handle) == 0);
    assert!(offset_of!(nw_store_about, spec) == 4);
    assert!(offset_of!(nw_store_about, head) == 12);
    assert!(offset_of!(nw_store_about, tail) == 16);
    assert!(offset_of!(nw_store_about, bytes) == 20);
    assert!(offset_of!(nw_store_about, name) == 24);
    assert!(size_of::<nw_store_cursor>() == 20);
    assert!(offset_of!(nw_store_cursor, handle) == 0);
    assert!(offset_of!(nw_store_cursor, chunk) == 4);
    assert!(offset_of!(nw_store_cursor, offset) == 8);
    assert!(offset_of!(nw_store_cursor, length) == 10);
    assert!(offset_of!(nw_store_cursor, at) == 12);
    assert!(offset_of!(nw_store_cursor, epoch) == 16);
    assert!(size_of::<nw_store_stats>() == 64);
    assert!(offset_of!(nw_store_stats, reads) == 0);
    assert!(offset_of!(nw_store_stats, programs) == 4);
    assert!(offset_of!(nw_store_stats, erases) == 8);
    assert!(offset_of!(nw_store_stats, bytes_read) == 12);
    assert!(offset_of!(nw_store_stats, bytes_programmed) == 16);
    assert!(offset_of!(nw_store_stats, nodes_written) == 20);
    assert!(offset_of!(nw_store_stats, anchors) == 24);
    assert!(offset_of!(nw_store_stats, moved) == 28);
    assert!(offset_of!(nw_store_stats, bytes_moved) == 32);
    assert!(offset_of!(nw_store_stats, dropped) == 36);
    assert!(offset_of!(nw_store_stats, corrected) == 40);
    assert!(offset_of!(nw_store_stats, lost) == 44);
    assert!(offset_of!(nw_store_stats, retired) == 48);
    assert!(offset_of!(nw_store_stats, swapped) == 52);
    assert!(offset_of!(nw_store_stats, place) == 56);
    assert!(offset_of!(nw_store_stats, tampered) == 60);
    assert!(size_of::<nw_store_space>() == 24);
    assert!(offset_of!(nw_store_space, used_bytes) == 0);
    assert!(offset_of!(nw_store_space, limit_bytes) == 4);
    assert!(offset_of!(nw_store_space, put_bytes) == 8);
    assert!(offset_of!(nw_store_space, free_blocks) == 12);
    assert!(offset_of!(nw_store_space, good_blocks) == 16);
    assert!(offset_of!(nw_store_space, sequence) == 20);
    assert!(size_of::<nw_spi_ops>() == 20);
    assert!(offset_of!(nw_spi_ops, select) == 0);
    assert!(offset_of!(nw_spi_ops, transfer) == 4);
    assert!(offset_of!(nw_spi_ops, wait) == 8);
    assert!(offset_of!(nw_spi_ops, clock) == 12);
    assert!(offset_of!(nw_spi_ops, read4) == 16);
    assert!(size_of::<nw_spi>() == 20);
    assert!(offset_of!(nw_spi, ops) == 0);
    assert!(offset_of!(nw_spi, context) == 4);
    assert!(offset_of!(nw_spi, khz) == 8);
    assert!(offset_of!(nw_spi, busy) == 12);
    assert!(offset_of!(nw_spi, status) == 13);
    assert!(offset_of!(nw_spi, error) == 16);
    assert!(size_of::<nw_spi_nand_part>() == 12);
    assert!(offset_of!(nw_spi_nand_part, maker) == 0);
    assert!(offset_of!(nw_spi_nand_part, device) == 1);
    assert!(offset_of!(nw_spi_nand_part, third) == 2);
    assert!(offset_of!(nw_spi_nand_part, flags) == 3);
    assert!(offset_of!(nw_spi_nand_part, blocks) == 4);
    assert!(offset_of!(nw_spi_nand_part, page_bytes) == 6);
    assert!(offset_of!(nw_spi_nand_part, ecc) == 8);
    assert!(size_of::<nw_spi_nand>() == 68);
    assert!(offset_of!(nw_spi_nand, spi) == 0);
    assert!(offset_of!(nw_spi_nand, part) == 4);
    assert!(offset_of!(nw_spi_nand, id) == 8);
    assert!(offset_of!(nw_spi_nand, chip) == 12);
    assert!(offset_of!(nw_spi_nand, held) == 64);
    assert!(size_of::<nw_spi_nor_maker>() == 6);
    assert!(offset_of!(nw_spi_nor_maker, maker) == 0);
    assert!(offset_of!(nw_spi_nor_maker, failed_code) == 1);
    assert!(offset_of!(nw_spi_nor_maker, program_failed) == 2);
    assert!(offset_of!(nw_spi_nor_maker, erase_failed) == 3);
    assert!(offset_of!(nw_spi_nor_maker, clear_code) == 4);
    assert!(offset_of!(nw_spi_nor_maker, protection) == 5);
    assert!(size_of::<nw_spi_nor>() == 68);
    assert!(offset_of!(nw_spi_nor, spi) == 0);
    assert!(offset_of!(nw_spi_nor, maker) == 4);
    assert!(offset_of!(nw_spi_nor, address_bytes) == 8);
    assert!(offset_of!(nw_spi_nor, erase_code) == 9);
    assert!(offset_of!(nw_spi_nor, id) == 10);
    assert!(offset_of!(nw_spi_nor, chip) == 16);
};
