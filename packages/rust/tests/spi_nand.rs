// SPDX-License-Identifier: Apache-2.0
//! The driver of serial NAND over an `embedded-hal` bus, on a model of a W25N01GV at command level.
use std::cell::RefCell;
use std::rc::Rc;

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorKind, ErrorType, Operation, SpiDevice};
use nandwich::{Error, SpiNand, Tree, TreeConfig, TreeState};

const LINE: usize = 2048 + 64;

/// The part: its array a page at a time, as they are first written.
#[derive(Default)]
struct Part {
    pages: std::collections::HashMap<u32, Box<[u8; LINE]>>,
    cache: Vec<u8>,
    config: u8,
    protection: u8,
    enabled: bool,
    busy_us: u32,
    commands: u32,
    too_early: u32,
    broken: bool,
}

impl Part {
    /// One command: what comes in, by what went out and how long the answer is.
    fn command(&mut self, out: &[u8], answer: &mut [u8]) {
        self.commands += 1;
        let row = |bytes: &[u8]| {
            u32::from(bytes[1]) << 16 | u32::from(bytes[2]) << 8 | u32::from(bytes[3])
        };
        let column = |bytes: &[u8]| (usize::from(bytes[1]) << 8 | usize::from(bytes[2])) & 0xFFF;
        if self.busy_us > 0 && out[0] != 0x0F {
            self.too_early += 1;
        }
        match out[0] {
            0xFF => self.busy_us = 500,
            0x9F => answer.copy_from_slice(&[0x00, 0xEF, 0xAA, 0x21][..answer.len()]),
            0x0F => {
                answer[0] = match out[1] & 0xF0 {
                    0xA0 => self.protection,
                    0xB0 => self.config,
                    _ => u8::from(self.busy_us > 0) | u8::from(self.enabled) << 1,
                }
            }
            0x1F if out[1] & 0xF0 == 0xA0 => self.protection = out[2],
            0x1F => self.config = out[2],
            0x06 => self.enabled = true,
            0x13 => {
                let blank = Box::new([0xFF; LINE]);
                let page = if self.config & 0x40 != 0 {
                    None
                } else {
                    self.pages.get(&row(out))
                };
                self.cache = page.unwrap_or(&blank).to_vec();
                self.busy_us = 60;
            }
            0x03 => {
                let at = column(out);
                answer.copy_from_slice(&self.cache[at..at + answer.len()]);
            }
            0x02 | 0x84 => {
                if out[0] == 0x02 {
                    self.cache = vec![0xFF; LINE];
                }
                let at = column(out);
                self.cache[at..at + out.len() - 3].copy_from_slice(&out[3..]);
            }
            0x10 => {
                assert!(
                    self.enabled && self.protection & 0x7C == 0,
                    "write-protected"
                );
                let page = self
                    .pages
                    .entry(row(out))
                    .or_insert_with(|| Box::new([0xFF; LINE]));
                for (to, from) in page.iter_mut().zip(&self.cache) {
                    *to &= from;
                }
                self.enabled = false;
                self.busy_us = 250;
            }
            0xD8 => {
                assert!(self.enabled, "write-protected");
                let block = row(out) / 64;
                self.pages.retain(|page, _| page / 64 != block);
                self.enabled = false;
                self.busy_us = 2000;
            }
            other => panic!("command {other:02x}"),
        }
    }
}

#[derive(Debug)]
struct Broken;

impl embedded_hal::spi::Error for Broken {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

#[derive(Clone)]
struct Wires(Rc<RefCell<Part>>);

impl ErrorType for Wires {
    type Error = Broken;
}

impl SpiDevice for Wires {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Broken> {
        let mut part = self.0.borrow_mut();
        if part.broken {
            return Err(Broken);
        }
        let mut out = Vec::new();
        let mut answered = false;
        for operation in operations {
            assert!(!answered, "nothing follows an answer");
            match operation {
                Operation::Write(bytes) => out.extend_from_slice(bytes),
                Operation::Read(bytes) => {
                    part.command(&out, bytes);
                    answered = true;
                }
                _ => panic!("a serial NAND's commands only write and read"),
            }
        }
        if !answered {
            part.command(&out, &mut []);
        }
        Ok(())
    }
}

impl DelayNs for Wires {
    fn delay_ns(&mut self, ns: u32) {
        let mut part = self.0.borrow_mut();
        part.busy_us = part.busy_us.saturating_sub(ns.div_ceil(1000));
    }
}

/// Goal: a whole stack over `SpiDevice` keeps data over sessions and never sends a command to a
/// busy part.
#[test]
fn tree_on_serial_nand() {
    let part = Rc::new(RefCell::new(Part {
        protection: 0x7C,
        config: 0x18,
        ..Part::default()
    }));
    let config = TreeConfig::default();
    let mut state = TreeState::new();
    let mut ram;
    {
        let mut nand = SpiNand::new(Wires(part.clone()), Wires(part.clone()), 20_000);
        let chip = nand.open().unwrap();
        assert_eq!(chip.geometry().blocks, 1024);
        ram = vec![0u64; config.ram_words(&chip.geometry())];
        let mut tree = Tree::format(&mut state, chip, &config, &mut ram).unwrap();
        for sector in 0..200 {
            tree.write(sector % 50, &[sector as u8; 2048]).unwrap();
        }
        let mut data = [0; 2048];
        tree.read(7, &mut data).unwrap();
        assert_eq!(data, [157; 2048]);
        part.borrow_mut().broken = true;
        assert_eq!(tree.read(7, &mut data), Err(Error::IO));
        part.borrow_mut().broken = false;
    }
    {
        let mut nand = SpiNand::new(Wires(part.clone()), Wires(part.clone()), 20_000);
        let chip = nand.open().unwrap();
        let mut tree = Tree::mount(&mut state, chip, &config, &mut ram).unwrap();
        let mut data = [0; 2048];
        tree.read(49, &mut data).unwrap();
        assert_eq!(data, [199; 2048]);
        let (_device, _delay) = nand.release();
    }
    assert!(part.borrow().commands > 1000);
    assert_eq!(part.borrow().too_early, 0);
}

/// Goal: a part that stays busy is an error in the end, not a hang.
#[test]
fn stuck_part() {
    struct NoTime;
    impl DelayNs for NoTime {
        fn delay_ns(&mut self, _ns: u32) {}
    }
    let part = Rc::new(RefCell::new(Part::default()));
    let mut nand = SpiNand::new(Wires(part), NoTime, 0);
    assert_eq!(nand.open().err(), Some(Error::BUSY));
}
