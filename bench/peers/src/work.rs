// SPDX-License-Identifier: Apache-2.0
//! The work every store does, byte for byte the same.

pub const BATCHES: u32 = 200;
pub const BATCH_BYTES: usize = 240; // 60 readings of 4 bytes
pub const PIECES: u32 = 10;
pub const PIECE_BYTES: usize = 80;
pub const OVERWRITES: u32 = 10_000;
pub const VALUES: u32 = 1024; // of the 64 KB that are overwritten
pub const VALUE_BYTES: usize = 64;

/// Batch `number` of the readings.
pub fn batch(number: u32) -> [u8; BATCH_BYTES] {
    let mut bytes = [0; BATCH_BYTES];
    for i in 0..60 {
        let reading = number * 60 + i as u32;
        bytes[i * 4..i * 4 + 4].copy_from_slice(&reading.to_le_bytes());
    }
    bytes
}

/// Piece `number` of the small file.
pub fn piece(number: u32) -> [u8; PIECE_BYTES] {
    [number as u8; PIECE_BYTES]
}

/// What value `key` holds after `round` overwrites of any value.
pub fn value(key: u32, round: u32) -> [u8; VALUE_BYTES] {
    let mut bytes = [key as u8; VALUE_BYTES];
    bytes[..4].copy_from_slice(&key.to_le_bytes());
    bytes[4..8].copy_from_slice(&round.to_le_bytes());
    bytes
}

/// Keys in a random order that is always the same.
pub struct Keys(u32);

impl Keys {
    pub fn new() -> Self {
        Self(1)
    }

    pub fn key(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % VALUES
    }
}

/// Runs a future that never waits to its end.
pub fn now<F: std::future::Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a flash in RAM never waits"),
    }
}
