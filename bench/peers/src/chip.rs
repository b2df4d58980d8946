// SPDX-License-Identifier: Apache-2.0
//! A flash chip in RAM that counts what is asked of it, page by page, and keeps time.

#[derive(Clone, Copy)]
pub struct Shape {
    pub page: usize,
    pub block_pages: usize,
    pub blocks: usize,
}

impl Shape {
    pub fn block(&self) -> usize {
        self.page * self.block_pages
    }

    pub fn bytes(&self) -> usize {
        self.block() * self.blocks
    }
}

/// Of one operation: a fixed part, and a part for each byte it moves.
#[derive(Clone, Copy)]
pub struct Times {
    pub read_ns: u64,
    pub read_ps: u64,
    pub program_ns: u64,
    pub program_ps: u64,
    pub erase_ns: u64,
}

#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub reads: u64,
    pub bytes_read: u64,
    pub programs: u64,
    pub bytes_programmed: u64,
    pub erases: u64,
    pub time_ns: u64,
    /// Bytes programmed that were not erased: no NAND allows it.
    pub again: u64,
    /// Most programs that one page got between two erases.
    pub page_programs: u64,
}

pub struct Chip {
    pub shape: Shape,
    pub counts: Counts,
    times: Times,
    cells: Vec<u8>,
    written: Vec<bool>,
    programs: Vec<u64>,
    call_began: u64,
    worst_ns: u64,
}

impl Chip {
    pub fn new(shape: Shape, times: Times) -> Self {
        Self {
            shape,
            times,
            counts: Counts::default(),
            cells: vec![0xff; shape.bytes()],
            written: vec![false; shape.bytes()],
            programs: vec![0; shape.bytes() / shape.page],
            call_began: 0,
            worst_ns: 0,
        }
    }

    /// Pieces of a range that lie in one page each.
    fn pieces(&self, at: usize, length: usize) -> Vec<(usize, usize)> {
        let page = self.shape.page;
        let mut pieces = Vec::new();
        let mut from = at;
        while from < at + length {
            let to = (at + length).min((from / page + 1) * page);
            pieces.push((from, to));
            from = to;
        }
        pieces
    }

    pub fn read(&mut self, at: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.cells[at..at + into.len()]);
        for (from, to) in self.pieces(at, into.len()) {
            let bytes = (to - from) as u64;
            self.counts.reads += 1;
            self.counts.bytes_read += bytes;
            self.counts.time_ns += self.times.read_ns + bytes * self.times.read_ps / 1000;
        }
    }

    pub fn program(&mut self, at: usize, data: &[u8]) {
        for (from, to) in self.pieces(at, data.len()) {
            let bytes = (to - from) as u64;
            let page = from / self.shape.page;
            self.counts.programs += 1;
            self.counts.bytes_programmed += bytes;
            self.counts.time_ns += self.times.program_ns + bytes * self.times.program_ps / 1000;
            self.programs[page] += 1;
            self.counts.page_programs = self.counts.page_programs.max(self.programs[page]);
            for place in from..to {
                self.counts.again += self.written[place] as u64;
                self.written[place] = true;
                self.cells[place] &= data[place - at];
            }
        }
    }

    pub fn erase(&mut self, block: usize) {
        let size = self.shape.block();
        self.cells[block * size..(block + 1) * size].fill(0xff);
        self.written[block * size..(block + 1) * size].fill(false);
        let pages = self.shape.block_pages;
        self.programs[block * pages..(block + 1) * pages].fill(0);
        self.counts.erases += 1;
        self.counts.time_ns += self.times.erase_ns;
    }

    /// Counting begins here.
    pub fn reset(&mut self) {
        self.counts = Counts::default();
        self.call_began = 0;
        self.worst_ns = 0;
    }

    /// A call of the store has ended: the longest one is kept.
    pub fn call_done(&mut self) {
        self.worst_ns = self.worst_ns.max(self.counts.time_ns - self.call_began);
        self.call_began = self.counts.time_ns;
    }

    /// Prints what was counted as one line of JSON, and counting begins anew.
    pub fn tell(&mut self, peer: &str, work: &str) {
        let counts = &self.counts;
        println!(
            concat!(
                "{{\"peer\":\"{}\",\"work\":\"{}\",\"reads\":{},\"bytes_read\":{},",
                "\"programs\":{},\"bytes_programmed\":{},\"erases\":{},\"time_ns\":{},",
                "\"worst_ns\":{},\"programmed_again\":{},\"page_programs\":{}}}"
            ),
            peer,
            work,
            counts.reads,
            counts.bytes_read,
            counts.programs,
            counts.bytes_programmed,
            counts.erases,
            counts.time_ns,
            self.worst_ns,
            counts.again,
            counts.page_programs
        );
        self.reset();
    }
}
