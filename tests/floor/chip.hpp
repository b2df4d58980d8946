/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chip.hpp - the small chip on which the rules of the floor are searched (docs/floor-rules.md): its
 * pages and blocks, and what a power cut leaves of them.
 *
 * Values of a sector are not numbers. A page holds what the sector is known to hold (current), what
 * a write that was cut wanted (pending), or anything else (outdated). Of versions only the order is
 * kept. So the states are finite.
 */
#ifndef NANDWICH_FLOOR_CHIP_HPP
#define NANDWICH_FLOOR_CHIP_HPP

#include <array>
#include <cstdint>

namespace floor_rules {

constexpr unsigned kBlocks = 8; /* at most */
constexpr unsigned kPages = 6;
constexpr unsigned kSectors = 2;
constexpr unsigned kRoots = 2; /* a block's first pages: its root, twice */
constexpr unsigned kEnd = 3;   /* a mount block's first END */
constexpr int kLeastList = 2; /* blocks that a list keeps, whoever lends of it */
constexpr uint8_t kNone = 0xFF;
constexpr uint8_t kStep = 8; /* of versions in a normal state: more than one call gives */

enum Holds : uint8_t { BLANK, ROOT, DATA, END };

/* How sure a page is. Power that goes in its program, or in the erase of its block, leaves it SHOWS
 * or HIDES, settled then and there. (On a real part the first read that answers tells which. That
 * is the same, since nobody knows before.) */
enum Firm : uint8_t {
    STABLE,
    SHOWS, /* each read: its content, or unreadable */
    HIDES  /* each read: blank, or unreadable */
};

/* What one read of it answers. */
enum Seen : uint8_t { CLEAN, UNREADABLE, WHOLE };

enum Value : uint8_t { CURRENT, PENDING, OUTDATED };

struct Page {
    uint8_t holds;
    uint8_t firm;
    uint8_t value;
    uint8_t sector;
    bool operator==(const Page &) const = default;
};

/* Where each sector lies: block * kPages + page, or kNone. */
using Map = std::array<uint8_t, kSectors>;

/*   session block   root, root, sectors
 *   next block      sectors alone: the session goes on without a root, in the same stretch
 *   mount block     root, root, a copy of the base's last page or nothing, END, END */
struct Block {
    std::array<Page, kPages> pages;
    uint8_t version; /* of its root, or of its stretch; 0: it holds none that matters */
    uint8_t next;    /* 0: it begins a stretch, else the how manieth block behind that one */
    uint8_t mount;   /* a mount block */
    uint8_t copy;    /* its ENDs say that there is a copy before them */
    uint8_t list;    /* blocks for mounts that the root names, a bit each */
    uint8_t ended;   /* the same, of an END */
    uint8_t spent;   /* nothing in it can matter any more */
    uint8_t failing; /* its programs fail from now on */
    Map map;         /* of the root, or of the stretch's */
    bool operator==(const Block &) const = default;
};

struct State {
    std::array<Block, kBlocks> blocks;
    uint8_t forgotten;  /* the highest version that a spent block held */
    uint8_t nothing;    /* a bit each sector: what it holds is nothing */
    uint8_t formatting; /* a format was cut, and no mount has ended since */
    uint8_t failures;   /* blocks that failed */
    /* the session, when power is on */
    uint8_t on;
    uint8_t block; /* of the log, or the mount's */
    uint8_t next;  /* page to be programmed */
    uint8_t list;  /* blocks for mounts */
    Map map;
    bool operator==(const State &) const = default;
};

struct Shape {
    unsigned blocks, pages, sectors;
    unsigned failures; /* blocks that may fail */
    unsigned listed;   /* blocks for mounts */
    unsigned stretch;  /* blocks that begin with one root, at most */
};

inline uint8_t place(unsigned block, unsigned page)
{
    return static_cast<uint8_t>(block * kPages + page);
}

inline unsigned block_of(uint8_t place)
{
    return place / kPages;
}

/* May a read of its first two pages show a root, or of which stretch it is? */
inline bool can_show(const Block &block)
{
    uint8_t head = block.next != 0 ? DATA : ROOT;

    return (block.pages[0].holds == head && block.pages[0].firm != HIDES) ||
           (block.pages[1].holds == head && block.pages[1].firm != HIDES);
}

/* Does each view of the chip show that this root counts? `complete`: and did a call return that
 * stands on it? */
inline bool is_certain(const Block &block, bool complete)
{
    const Page &proof = block.pages[block.mount ? kEnd + complete : kRoots];

    return block.version != 0 && block.next == 0 && block.pages[0].firm == STABLE &&
           block.pages[0].holds == ROOT &&
           proof.holds == (block.mount ? END : DATA) && proof.firm == STABLE;
}

/* The highest version of such a root; 0: there is none. */
inline uint8_t certain_version(const State &state, const Shape &shape, bool complete)
{
    uint8_t best = 0;

    for (unsigned b = 0; b < shape.blocks; b++) {
        if (is_certain(state.blocks[b], complete) && state.blocks[b].version > best) {
            best = state.blocks[b].version;
        }
    }
    return best;
}

inline void erase_whole(Block &block)
{
    uint8_t failing = block.failing;

    block = Block{};
    block.failing = failing;
    block.map.fill(kNone);
}

/* All pages that hold one value of the sector hold the other from now on. */
inline void rename_value(State &state, unsigned sector, Value from, Value to)
{
    for (Block &block : state.blocks) {
        for (Page &page : block.pages) {
            if (page.holds == DATA && page.sector == sector && page.value == from) {
                page.value = to;
            }
        }
    }
}

/* normal.cpp: the one state that stands for all that differ from it in nothing that matters */
State normal(const State &state, const Shape &shape);

} // namespace floor_rules

#endif
