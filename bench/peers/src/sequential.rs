// SPDX-License-Identifier: Apache-2.0
//! sequential-storage: a queue for readings and pieces, a map for overwrites, all caches in use.
use crate::chip::Chip;
use crate::work::{self, now, Keys};
use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};
use sequential_storage::cache::page_pointers::HeapPagePointers;
use sequential_storage::cache::page_states::HeapPageStates;
use sequential_storage::cache::key_pointers::HeapKeyPointers;
use sequential_storage::cache::Cache;
use sequential_storage::map::{MapConfig, MapStorage};
use sequential_storage::queue::{QueueConfig, QueueStorage};

const NAME: &str = "sequential-storage 8.0.2";

/// The chip with an erase size that is known when this is compiled.
struct Flash<const ERASE: usize>(Chip);

impl<const ERASE: usize> ErrorType for Flash<ERASE> {
    type Error = core::convert::Infallible;
}

impl<const ERASE: usize> ReadNorFlash for Flash<ERASE> {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0.read(offset as usize, bytes);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.shape.bytes()
    }
}

impl<const ERASE: usize> NorFlash for Flash<ERASE> {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = ERASE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        for block in from as usize / ERASE..to as usize / ERASE {
            self.0.erase(block);
        }
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.program(offset as usize, bytes);
        Ok(())
    }
}

impl<const ERASE: usize> MultiwriteNorFlash for Flash<ERASE> {}

type QueueCache = Cache<HeapPageStates, HeapPagePointers, sequential_storage::cache::Uncached>;
type Queue<const ERASE: usize> = QueueStorage<Flash<ERASE>, QueueCache>;

fn open<const ERASE: usize>(flash: Flash<ERASE>) -> Queue<ERASE> {
    let blocks = flash.0.shape.blocks;
    let range = 0..flash.0.shape.bytes() as u32;
    let states = HeapPageStates::new(blocks);
    let pointers = HeapPagePointers::new(blocks);
    let cache = Cache::new(states, pointers, sequential_storage::cache::Uncached);
    QueueStorage::new(flash, QueueConfig::new(range), cache)
}

fn expect_all<const ERASE: usize>(queue: &mut Queue<ERASE>, count: u32, of: impl Fn(u32) -> Vec<u8>) {
    let mut buffer = [0; 512];
    let mut items = now(queue.iter()).unwrap();
    for number in 0..count {
        let item = now(items.next(&mut buffer)).unwrap().expect("an element");
        assert!(*item == of(number)[..], "sequential-storage read other bytes");
    }
}

fn append<const ERASE: usize>(chip: Chip) {
    let mut queue = open(Flash::<ERASE>(chip));
    for number in 0..work::BATCHES {
        now(queue.push(&work::batch(number), false)).unwrap();
        queue.flash().0.call_done();
    }
    queue.flash().0.tell(NAME, "append");
    expect_all(&mut queue, work::BATCHES, |number| work::batch(number).to_vec());
    queue.flash().0.tell(NAME, "read-back");
}

fn small<const ERASE: usize>(chip: Chip) {
    let mut queue = open(Flash::<ERASE>(chip));
    for number in 0..work::PIECES {
        now(queue.push(&work::piece(number), false)).unwrap();
    }
    let mut queue = open(queue.destroy().0);
    expect_all(&mut queue, work::PIECES, |number| work::piece(number).to_vec());
    queue.flash().0.tell(NAME, "small");
}

fn overwrite<const ERASE: usize>(chip: Chip) {
    let blocks = chip.shape.blocks;
    let range = 0..chip.shape.bytes() as u32;
    let states = HeapPageStates::new(blocks);
    let pointers = HeapPagePointers::new(blocks);
    let keys = HeapKeyPointers::<u16>::new(work::VALUES as usize);
    let cache = Cache::new(states, pointers, keys);
    let mut map = MapStorage::new(Flash::<ERASE>(chip), MapConfig::new(range), cache);
    let mut buffer = [0; 512];
    let mut last = vec![0; work::VALUES as usize];
    let mut keys = Keys::new();
    for key in 0..work::VALUES {
        now(map.store_item(&mut buffer, &(key as u16), &&work::value(key, 0)[..])).unwrap();
    }
    map.flash().0.reset();
    for round in 1..=work::OVERWRITES {
        let key = keys.key();
        now(map.store_item(&mut buffer, &(key as u16), &&work::value(key, round)[..])).unwrap();
        last[key as usize] = round;
        map.flash().0.call_done();
    }
    map.flash().0.tell(NAME, "overwrite");
    for key in 0..work::VALUES {
        let found: Option<&[u8]> = now(map.fetch_item(&mut buffer, &(key as u16))).unwrap();
        let right = work::value(key, last[key as usize]);
        assert!(found == Some(&right[..]), "sequential-storage read other bytes");
    }
}

fn run_all<const ERASE: usize>(fresh: impl Fn() -> Chip) {
    append::<ERASE>(fresh());
    small::<ERASE>(fresh());
    overwrite::<ERASE>(fresh());
}

pub fn run(fresh: impl Fn() -> Chip) {
    match fresh().shape.block() {
        4096 => run_all::<4096>(fresh),
        16384 => run_all::<16384>(fresh),
        131_072 => run_all::<131_072>(fresh),
        other => panic!("no blocks of {other} bytes are compiled in"),
    }
}
