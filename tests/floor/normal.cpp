/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normal.cpp - one state for all that differ in nothing that matters.
 *
 * What is left out, and why it can be: behind a root on which a call has returned, no mount goes on
 * from an older one. A block that holds only an older root, and no page that one of the roots from
 * then on names as a sector's, is spent. This is right as long as some root that is newer than all
 * that was in spent blocks counts in each view: play.cpp tells where that fails. A spent block may
 * be a suspect; to erase one changes nothing.
 */
#include <algorithm>
#include <vector>

#include "chip.hpp"

namespace floor_rules {

namespace {

struct Normal {
    State state;
    const Shape &shape;
    std::array<bool, kBlocks> live{}; /* its root may be chosen */
    std::array<bool, kBlocks> reached{};

    void find_live();
    void spend();
    void rank();
    void order();
    void reach(const Map &map);
};

void Normal::reach(const Map &map)
{
    for (unsigned s = 0; s < shape.sectors; s++) {
        if (map[s] != kNone) {
            reached[block_of(map[s])] = true;
        }
    }
}

void Normal::find_live()
{
    uint8_t least = certain_version(state, shape, true);

    for (unsigned b = 0; b < shape.blocks; b++) {
        live[b] = can_show(state.blocks[b]) && state.blocks[b].version >= least;
        if (live[b]) {
            reach(state.blocks[b].map);
        }
    }
    if (state.on) {
        reach(state.map);
        live[state.block] = true;
    }
}

void Normal::spend()
{
    for (unsigned b = 0; b < shape.blocks; b++) {
        Block &block = state.blocks[b];
        if (live[b]) {
            continue;
        }
        if (can_show(block)) {
            state.forgotten = std::max(state.forgotten, block.version);
        }
        if (!reached[b]) {
            erase_whole(block);
            block.spent = 1;
        }
        block.version = 0;
        block.next = block.mount = block.copy = block.list = block.ended = 0;
        block.map.fill(kNone);
    }
}

/* Versions by their order alone. */
void Normal::rank()
{
    std::vector<uint8_t> versions{0, state.forgotten};

    for (unsigned b = 0; b < shape.blocks; b++) {
        versions.push_back(state.blocks[b].version);
    }
    std::sort(versions.begin(), versions.end());
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
    auto rank_of = [&](uint8_t version) {
        auto at = std::lower_bound(versions.begin(), versions.end(), version);
        return static_cast<uint8_t>(kStep * (at - versions.begin()));
    };
    for (unsigned b = 0; b < shape.blocks; b++) {
        state.blocks[b].version = rank_of(state.blocks[b].version);
    }
    state.forgotten = rank_of(state.forgotten);
}

/* Blocks by what they are, not by their number: whoever takes a free block may take any. */
void Normal::order()
{
    std::vector<uint8_t> from;
    std::array<uint8_t, kBlocks> to{};
    State sorted = state;
    std::array<std::array<uint8_t, kPages + 5 + 2 * kBlocks + 1>, kBlocks> keys{};

    for (unsigned b = 0; b < shape.blocks; b++) {
        const Block &block = state.blocks[b];
        auto &key = keys[b];
        unsigned at = 0;

        key[at++] = static_cast<uint8_t>(~block.version);
        key[at++] = block.next;
        key[at++] = block.spent;
        key[at++] = block.failing;
        for (const Page &page : block.pages) {
            key[at++] = static_cast<uint8_t>(page.holds | page.firm << 2 | page.value << 4 |
                                             page.sector << 6);
        }
        key[at++] = state.list >> b & 1U;
        for (unsigned n = 0; n < shape.blocks; n++) { /* who lists it */
            const Block &other = state.blocks[n];
            key[at + n] = (other.list >> b & 1U) ? other.version : 0;
            key[at + kBlocks + n] = (other.ended >> b & 1U) ? other.version : 0;
        }
        std::sort(key.begin() + at, key.begin() + at + kBlocks);
        std::sort(key.begin() + at + kBlocks, key.begin() + at + 2 * kBlocks);
        from.push_back(static_cast<uint8_t>(b));
    }
    std::stable_sort(from.begin(), from.end(),
                     [&](uint8_t a, uint8_t b) { return keys[a] < keys[b]; });
    for (unsigned b = 0; b < shape.blocks; b++) {
        to[from[b]] = static_cast<uint8_t>(b);
        sorted.blocks[b] = state.blocks[from[b]];
    }
    auto renumber = [&](Map &map) {
        for (unsigned s = 0; s < shape.sectors; s++) {
            if (map[s] != kNone) {
                map[s] = place(to[block_of(map[s])], map[s] % kPages);
            }
        }
    };
    auto renumber_list = [&](uint8_t &list) {
        unsigned renamed = 0;
        for (unsigned b = 0; b < shape.blocks; b++) {
            renamed |= (list >> b & 1U) << to[b];
        }
        list = static_cast<uint8_t>(renamed);
    };
    for (unsigned b = 0; b < shape.blocks; b++) {
        renumber(sorted.blocks[b].map);
        renumber_list(sorted.blocks[b].list);
        renumber_list(sorted.blocks[b].ended);
    }
    renumber(sorted.map);
    renumber_list(sorted.list);
    sorted.block = state.on ? to[state.block] : 0;
    state = sorted;
}

} // namespace

State normal(const State &state, const Shape &shape)
{
    Normal work{state, shape};

    if (!state.on) {
        work.state.block = work.state.next = work.state.list = 0;
        work.state.map.fill(kNone);
    }
    work.find_live();
    work.spend();
    work.rank();
    work.order();
    return work.state;
}

} // namespace floor_rules
