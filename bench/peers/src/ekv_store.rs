// SPDX-License-Identifier: Apache-2.0
//! ekv: a key for each batch, piece or value, a transaction for each durable write.
use crate::chip::Chip;
use crate::work::{self, now, Keys};
use ekv::flash::{Flash, PageID};
use ekv::{Config, Database};
use embassy_sync::blocking_mutex::raw::NoopRawMutex;

const NAME: &str = "ekv 1.0.0";

struct Blocks<'a>(&'a mut Chip);

impl Flash for Blocks<'_> {
    type Error = core::convert::Infallible;

    fn page_count(&self) -> usize {
        self.0.shape.blocks
    }

    async fn erase(&mut self, block: PageID) -> Result<(), Self::Error> {
        self.0.erase(block.index());
        Ok(())
    }

    async fn read(&mut self, block: PageID, at: usize, data: &mut [u8]) -> Result<(), Self::Error> {
        self.0.read(block.index() * self.0.shape.block() + at, data);
        Ok(())
    }

    async fn write(&mut self, block: PageID, at: usize, data: &[u8]) -> Result<(), Self::Error> {
        self.0.program(block.index() * self.0.shape.block() + at, data);
        Ok(())
    }
}

type Store<'a> = Database<Blocks<'a>, NoopRawMutex>;

fn config() -> Config {
    let mut config = Config::default();
    config.random_seed = 1;
    config
}

/// Writes all pairs of one durable step; keys ascend.
fn write(store: &Store, pairs: &[(u32, &[u8])]) {
    let mut transaction = now(store.write_transaction());
    for (key, data) in pairs {
        now(transaction.write(&key.to_be_bytes(), data)).unwrap();
    }
    now(transaction.commit()).unwrap();
}

/// Reads everything in the order of keys.
fn expect_all(store: &Store, count: u32, of: impl Fn(u32) -> Vec<u8>) {
    let mut key = [0; 8];
    let mut value = [0; 512];
    let transaction = now(store.read_transaction());
    let mut cursor = now(transaction.read_all()).unwrap();
    for number in 0..count {
        let (_, length) = now(cursor.next(&mut key, &mut value)).unwrap().expect("a pair");
        assert!(value[..length] == of(number)[..], "ekv read other bytes");
    }
}

fn append(mut chip: Chip) {
    let store = Store::new(Blocks(&mut chip), config());
    now(store.format()).unwrap();
    now(store.mount()).unwrap();
    now(store.lock_flash()).0.reset();
    for number in 0..work::BATCHES {
        write(&store, &[(number, &work::batch(number))]);
        now(store.lock_flash()).0.call_done();
    }
    now(store.lock_flash()).0.tell(NAME, "append");
    expect_all(&store, work::BATCHES, |number| work::batch(number).to_vec());
    now(store.lock_flash()).0.tell(NAME, "read-back");
}

fn small(mut chip: Chip) {
    {
        let store = Store::new(Blocks(&mut chip), config());
        let pieces: Vec<_> = (0..work::PIECES).map(work::piece).collect();
        let pairs: Vec<_> =
            pieces.iter().enumerate().map(|(i, piece)| (i as u32, &piece[..])).collect();
        now(store.format()).unwrap();
        now(store.mount()).unwrap();
        now(store.lock_flash()).0.reset();
        write(&store, &pairs);
        expect_all(&store, work::PIECES, |number| work::piece(number).to_vec());
    }
    chip.tell(NAME, "small");
}

fn overwrite(mut chip: Chip) {
    let store = Store::new(Blocks(&mut chip), config());
    let mut last = vec![0; work::VALUES as usize];
    let mut keys = Keys::new();
    now(store.format()).unwrap();
    now(store.mount()).unwrap();
    for key in 0..work::VALUES {
        write(&store, &[(key, &work::value(key, 0))]);
    }
    now(store.lock_flash()).0.reset();
    for round in 1..=work::OVERWRITES {
        let key = keys.key();
        write(&store, &[(key, &work::value(key, round))]);
        last[key as usize] = round;
        now(store.lock_flash()).0.call_done();
    }
    now(store.lock_flash()).0.tell(NAME, "overwrite");
    expect_all(&store, work::VALUES, |key| work::value(key, last[key as usize]).to_vec());
}

pub fn run(fresh: impl Fn() -> Chip) {
    append(fresh());
    small(fresh());
    overwrite(fresh());
}
