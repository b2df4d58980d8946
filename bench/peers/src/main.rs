// SPDX-License-Identifier: Apache-2.0
//! Runs every peer on one shape of flash and prints a JSON line for each piece of work:
//!
//!     peers PAGE_BYTES BLOCK_PAGES BLOCKS READ_NS READ_PS PROGRAM_NS PROGRAM_PS ERASE_NS
//!
//! Times are those of one operation: a fixed part in ns and a part for each byte in ps. A line holds
//! the operations counted and the longest call by these times; energy is the caller's arithmetic.
mod chip;
mod ekv_store;
mod littlefs;
mod sequential;
mod work;

use chip::{Chip, Shape, Times};

fn numbers() -> Vec<u64> {
    std::env::args()
        .skip(1)
        .map(|text| text.parse().expect("a whole number"))
        .collect()
}

fn main() {
    let given = numbers();
    assert!(given.len() == 8, "eight numbers, see the head of main.rs");
    let shape = Shape {
        page: given[0] as usize,
        block_pages: given[1] as usize,
        blocks: given[2] as usize,
    };
    let times = Times {
        read_ns: given[3],
        read_ps: given[4],
        program_ns: given[5],
        program_ps: given[6],
        erase_ns: given[7],
    };
    let fresh = || Chip::new(shape, times);

    littlefs::run(fresh);
    sequential::run(fresh);
    if shape.page * shape.block_pages == 4096 {
        ekv_store::run(fresh); // its block size is fixed when it is compiled
    }
}
