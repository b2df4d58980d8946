// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![no_std]
#![warn(missing_docs)]

mod bytes;
mod chip;
mod error;
mod nor;
mod spi_nand;
mod store;
mod tree;
#[rustfmt::skip]
pub mod sys;

pub use bytes::Bytes;
pub use chip::{Chip, Custom, Flash, Geometry};
pub use error::Error;
pub use nor::Nor;
pub use spi_nand::SpiNand;
pub use store::{Cursor, Kind, Object, Store, StoreConfig};
pub use tree::{Tree, TreeConfig, TreeState};
