// SPDX-License-Identifier: Apache-2.0
//! Compiles the C core: beside this crate when it was packed, two folders up in a checkout.
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for room in std::fs::read_dir(folder).expect("the core's folder") {
        let room = room.expect("an entry of the core").path();
        if !room.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&room).expect("a folder of the core") {
            let file = file.expect("a file of the core").path();
            if file.extension().is_some_and(|suffix| suffix == "c") {
                found.push(file);
            }
        }
    }
    found.sort();
    found
}

fn main() {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where"));
    let packed = here.join("core");
    let core = if packed.is_dir() {
        packed
    } else {
        here.join("../../core")
    };
    println!("cargo:rerun-if-changed={}", core.display());
    cc::Build::new()
        .files(sources(&core))
        .include(core.join("include"))
        .flag_if_supported("-std=c11")
        .flag_if_supported("-ffunction-sections")
        // An enum is an int in sys.rs; the ABI of bare ARM would make it as small as it can.
        .flag_if_supported("-fno-short-enums")
        .warnings(false)
        .compile("nandwich");
}
