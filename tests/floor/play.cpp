/* SPDX-License-Identifier: Apache-2.0 */
#include "play.hpp"

#include <algorithm>
#include <bit>

namespace floor_rules {

unsigned Chooser::pick(unsigned count)
{
    if (at_ == choices_.size()) {
        unsigned made = 0;
        if (seed_ != 0) { /* xorshift */
            seed_ ^= seed_ << 13, seed_ ^= seed_ >> 7, seed_ ^= seed_ << 17;
            bool plain = count > 2 && (seed_ >> 20 & 3U) != 0; /* the first choice: no cut */
            made = plain ? 0 : static_cast<unsigned>((seed_ >> 32) % count);
        }
        choices_.push_back({static_cast<uint8_t>(made), static_cast<uint8_t>(count)});
    }
    return choices_[at_++].made;
}

bool Chooser::advance()
{
    while (!choices_.empty() && choices_.back().made + 1U == choices_.back().count) {
        choices_.pop_back();
    }
    if (choices_.empty()) {
        return false;
    }
    choices_.back().made++;
    at_ = 0;
    return true;
}

/* The chip */

/* One read of a page. */
Seen Play::read(unsigned b, unsigned at)
{
    const Page &page = state.blocks[b].pages[at];
    Seen own = page.holds == BLANK ? CLEAN : WHOLE;

    if (page.firm == STABLE) {
        return own;
    }
    Seen seen = chooser.pick(2) == 0 ? own : UNREADABLE;
    tell("b", b, ".", at, seen == WHOLE ? " shows" : seen == CLEAN ? " blank" : " unreadable");
    return seen;
}

/* The same, where blank and unreadable tell the same. */
bool Play::shows(unsigned b, unsigned at)
{
    return state.blocks[b].pages[at].holds != BLANK && read(b, at) == WHOLE;
}

void Play::power_off()
{
    state.on = 0;
}

/* What an erase leaves that was cut. */
void Play::erase_half(unsigned block)
{
    uint8_t version = can_show(state.blocks[block]) ? state.blocks[block].version : uint8_t{0};

    if (version < std::max(certain_version(state, shape, true), uint8_t{1})) {
        state.forgotten = std::max(state.forgotten, version);
        erase_whole(state.blocks[block]); /* what it shows does not matter: it is spent */
        return;
    }
    for (unsigned p = 0; p < shape.pages; p++) {
        Page &page = state.blocks[block].pages[p];
        bool hides = page.holds == BLANK || page.firm == HIDES || chooser.pick(2) == 1;
        page = hides ? Page{BLANK, HIDES, 0, page.sector} : page;
        page.firm = hides ? HIDES : SHOWS;
    }
}

Play::Done Play::erase(unsigned block)
{
    unsigned way = chooser.pick(3);

    tell(way == 0 ? "" : way == 1 ? "CUT in " : "CUT before ", "erase b", block);
    if (way == 0) {
        erase_whole(state.blocks[block]);
        return DONE;
    }
    if (way == 1) {
        erase_half(block);
    }
    power_off();
    return CUT;
}

Play::Done Play::program(unsigned block, unsigned at, Page content)
{
    static const char *const names[] = {"blank", "root", "data", "end"};
    Block &home = state.blocks[block];
    bool may_fail = home.failing || state.failures < shape.failures;

    if (home.pages[at].holds != BLANK || home.pages[at].firm != STABLE) {
        broken("b", block, ".", at, " is programmed, but not erased");
        return CUT;
    }
    unsigned way = home.failing ? 3 : chooser.pick(may_fail ? 4 : 3);
    static const char *const ways[] = {"", "CUT in ", "CUT before ", "FAILS "};
    tell(ways[way], "b", block, ".", at, " ", names[content.holds]);
    if (way == 0) {
        home.pages[at] = content;
        return DONE;
    }
    if (way != 2) {
        bool hides = chooser.pick(2) == 1;
        home.pages[at] = hides ? Page{BLANK, HIDES, 0, 0} : content;
        home.pages[at].firm = hides ? HIDES : SHOWS;
    }
    if (way == 3) {
        state.failures = static_cast<uint8_t>(state.failures + !home.failing);
        home.failing = 1;
        avoided |= 1U << block;
        return FAILED;
    }
    power_off();
    return CUT;
}

/* The next version. What is hidden may have been given it, or a higher one, before. */
uint8_t Play::version_above(uint8_t shown)
{
    std::vector<uint8_t> ways{static_cast<uint8_t>(shown + 1)};

    for (unsigned b = 0; b < shape.blocks; b++) {
        const Block &block = state.blocks[b];
        if (block.version > shown && can_show(block)) {
            ways.push_back(block.version);
            ways.push_back(static_cast<uint8_t>(block.version + 1));
        }
    }
    return ways[chooser.pick(static_cast<unsigned>(ways.size()))];
}

unsigned Play::reached(const Map &map) const
{
    unsigned blocks = 0;

    for (unsigned s = 0; s < shape.sectors; s++) {
        blocks |= map[s] == kNone ? 0U : 1U << block_of(map[s]);
    }
    return blocks;
}

/* A block that is not kept, whichever; kNone: there is none. Spent blocks that nobody lists are
 * alike. */
unsigned Play::take(unsigned kept)
{
    std::vector<unsigned> ways;
    unsigned listed = state.list;
    bool had_spent = false;

    for (const Block &block : state.blocks) {
        listed |= block.list | block.ended;
    }
    for (unsigned b = 0; b < shape.blocks; b++) {
        bool alike = state.blocks[b].spent && !state.blocks[b].failing && !(listed >> b & 1U);
        if (!((kept | avoided) >> b & 1U) && !(alike && had_spent)) {
            ways.push_back(b);
            had_spent = had_spent || alike;
        }
    }
    return ways.empty() ? kNone : ways[chooser.pick(static_cast<unsigned>(ways.size()))];
}

/* Free blocks join the list, as many as may; one stays for the session. */
uint8_t Play::choose_list(unsigned kept, uint8_t list)
{
    for (;;) {
        unsigned count = 0, free = 0;
        for (unsigned b = 0; b < shape.blocks; b++) {
            count += list >> b & 1U;
            free += !((kept | list | avoided) >> b & 1U);
        }
        if (count >= shape.listed || free <= 1) {
            return list;
        }
        list = static_cast<uint8_t>(list | 1U << take(kept | list));
    }
}

/* Mount */

Play::Head Play::see(unsigned b)
{
    Head head;
    bool root = false, blank = true;

    for (unsigned p = 0; p < kRoots && !root; p++) {
        Seen seen = read(b, p);
        root = seen == WHOLE;
        blank = blank && seen == CLEAN;
    }
    bool counts = root && state.blocks[b].version != 0; /* else older than all that is chosen */
    head.root = counts && state.blocks[b].next == 0;
    head.next = counts && state.blocks[b].next != 0;
    head.suspect = !root && !blank;
    return head;
}

/* A page that shows follows the two roots, with nothing blank between. */
bool Play::is_confirmed(unsigned b)
{
    Seen seen = UNREADABLE;

    for (unsigned p = kRoots; p < shape.pages && seen == UNREADABLE; p++) {
        seen = read(b, p);
    }
    return seen == WHOLE || !rules.confirmed;
}

bool Play::has_ended(unsigned b, Base &base)
{
    const Block &block = state.blocks[b];

    base.proven = shows(b, kEnd + 1U);
    bool ended = base.proven || shows(b, kEnd);
    if (!ended && rules.ended) {
        return false;
    }
    bool tells = ended && rules.end_tells_copy;
    bool has_copy = tells ? block.copy : read(b, kRoots) != CLEAN;
    base.last = has_copy ? kRoots : kNone;
    return base.proven || !has_copy || !rules.copy_whole || shows(b, kRoots);
}

/* Does the root in this block count? */
bool Play::counts(unsigned b, Base &base)
{
    base.block = base.last_block = b;
    base.map = state.blocks[b].map;
    base.list = state.blocks[b].list;
    return state.blocks[b].mount ? has_ended(b, base) : is_confirmed(b);
}

/* The pages of a block from the first on, up to the first that is blank; of the last block without
 * the last page, which may be torn. That one, or kNone. Each before it is followed: where it cannot
 * be read the next one tells of what sector it is. A block that goes on may be half erased, with
 * its first page torn: so that one is the last unless another shows. */
unsigned Play::replay_block(Base &base, unsigned b, unsigned first, bool is_last)
{
    unsigned last = kNone;
    bool shown = first != 0 || !rules.next_shows;

    for (unsigned p = first; p < shape.pages; p++) {
        Seen seen = read(b, p);
        if (seen == CLEAN) {
            break;
        }
        last = p;
        shown = shown || (seen == WHOLE && p > first);
    }
    if (is_last && last != kNone && !shown) {
        last = first;
    }
    for (unsigned p = first; last != kNone && p < last + !is_last; p++) {
        if (shows(b, p) || (p < last && shows(b, p + 1U))) {
            base.map[state.blocks[b].pages[p].sector] = place(b, p);
        }
    }
    return last;
}

/* The block that goes on with the stretch that begins in this one; kNone. */
unsigned Play::next_of(const std::array<Head, kBlocks> &heads, unsigned block, unsigned next) const
{
    for (unsigned b = 0; b < shape.blocks; b++) {
        if (heads[b].next && state.blocks[b].version == state.blocks[block].version &&
            state.blocks[b].next == next) {
            return b;
        }
    }
    return kNone;
}

/* The pages of a stretch behind its root. The one behind the last may be torn. */
void Play::replay(Base &base, const std::array<Head, kBlocks> &heads)
{
    unsigned b = base.block;
    unsigned first = kRoots;

    for (unsigned next = 1;; next++) {
        unsigned behind = next_of(heads, base.block, next);
        base.last = replay_block(base, b, first, behind == kNone);
        base.last_block = b;
        if (behind == kNone) {
            return;
        }
        b = behind;
        first = 0;
    }
}

/* Power may go when any of them have been erased, and inside the erase of any. */
bool Play::erase_suspects(const std::array<Head, kBlocks> &heads)
{
    for (unsigned b = 0; b < shape.blocks; b++) {
        if (heads[b].suspect && erase(b) != DONE) {
            return false;
        }
    }
    return true;
}

/* The mount's own block. The copy in a mount block that is not proven was whole when that was
 * chosen: where it cannot be read now the mount begins again without that block. */
Play::Done Play::build(const Base &base, unsigned target, uint8_t version, bool format)
{
    const Block &from = state.blocks[base.last_block];
    bool has_last = !format && base.last != kNone;
    bool whole = has_last && shows(base.last_block, base.last);
    bool copies = has_last && rules.copies && (rules.copies_again || !from.mount) &&
                  (whole || from.mount);
    Page copy{DATA, STABLE, 0, 0};
    Map map = base.map;
    Done done = erase(target);

    if (has_last) { /* what cannot be read is lost */
        const Page &last = from.pages[base.last];
        copy.value = whole ? last.value : uint8_t{OUTDATED};
        copy.sector = last.sector;
    }
    if (done != DONE) {
        return done;
    }
    if (has_last && whole && !copies) { /* a rule is left out */
        map[copy.sector] = place(base.last_block, base.last);
    }
    if (format) {
        map.fill(kNone);
    }
    Block &block = state.blocks[target];
    block.version = version;
    block.next = 0;
    block.mount = 1;
    block.copy = copies;
    block.map = map;
    block.list = static_cast<uint8_t>(base.list & ~(rules.list_less ? 1U << base.block : 0U));
    for (unsigned p = 0; p < kRoots && done == DONE; p++) {
        done = program(target, p, Page{ROOT, STABLE, 0, 0});
    }
    if (done == DONE && copies && !whole && !base.proven) {
        return AGAIN;
    }
    if (done == DONE && copies) {
        done = program(target, kRoots, copy);
        map[copy.sector] = place(target, kRoots);
    }
    if (done == DONE) {
        block.ended = choose_list(reached(map) | 1U << target, 0); /* it may list the base */
    }
    for (unsigned p = kEnd; p < kEnd + 2U && done == DONE; p++) {
        done = program(target, p, Page{END, STABLE, 0, 0});
    }
    if (done == DONE) {
        state.on = 1;
        state.block = static_cast<uint8_t>(target);
        state.next = kPages;
        state.list = block.ended;
        state.map = map;
    }
    return done;
}

/* The base, of a version below that one, with the list that is good for this mount. */
bool Play::choose(uint8_t below, Base &base, std::array<Head, kBlocks> &heads, unsigned &newest)
{
    std::vector<unsigned> candidates;

    for (unsigned b = 0; b < shape.blocks; b++) {
        heads[b] = see(b);
        if (heads[b].root) {
            candidates.push_back(b);
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](unsigned a, unsigned b) {
        return state.blocks[a].version > state.blocks[b].version;
    });
    for (unsigned b : candidates) {
        base = Base{};
        if (state.blocks[b].version >= below || !counts(b, base)) {
            continue;
        }
        bool is_mount = state.blocks[b].mount;
        newest = candidates.front();
        if (shows(b, 0) || shows(b, 1)) {
            bool trusts = is_mount && (base.proven || !rules.trusts_proven);
            base.list = trusts ? state.blocks[b].ended : base.list;
            if (!is_mount) {
                replay(base, heads);
            }
            return true;
        }
        if (!is_mount && newest == b) {
            break; /* no mount erases it: its device is damaged */
        }
    }
    return false;
}

Play::Done Play::attempt(bool format, uint8_t &below, uint8_t &highest)
{
    std::array<Head, kBlocks> heads{};
    unsigned newest = kNone;
    Base base;

    if (!choose(below, base, heads, newest)) {
        broken("no root counts");
        return CUT;
    }
    tell("base b", base.block);
    if (rules.suspects_first && !erase_suspects(heads)) {
        return CUT;
    }
    unsigned spared = rules.spares_base ? 1U << base.block : 0U;
    unsigned target =
        take(spared | (rules.own_list ? ~static_cast<unsigned>(base.list) : reached(base.map)));
    bool is_open = state.blocks[base.block].mount && !base.proven;
    Done done = CUT;
    if (target != kNone) {
        highest = std::max(highest, state.blocks[rules.above_all ? newest : base.block].version);
        highest = version_above(highest);
        done = build(base, target, highest, format);
    } else if (is_open && (!rules.passes_blank || read(base.block, kEnd + 1U) == CLEAN)) {
        done = AGAIN;
    } else {
        tell("no block: read only");
    }
    if (done == AGAIN) { /* as if its END did not show */
        below = state.blocks[base.block].version;
    } else if (done == FAILED && chooser.pick(2) == 1) {
        tell("CUT before b", target, " is marked bad");
        done = CUT;
    } else if (done == FAILED) { /* it is no candidate any more */
        erase_whole(state.blocks[target]);
    }
    return done;
}

void Play::mount(bool format)
{
    uint8_t below = kNone;
    uint8_t highest = 0;
    unsigned failures = 0;
    Done done = AGAIN;

    tell(format ? "format" : "mount");
    while (done == AGAIN || (done == FAILED && failures < 2)) {
        done = attempt(format, below, highest);
        failures += done == FAILED;
    }
    if (is_broken) {
        return;
    }
    if (done == DONE) {
        judge(format);
    } else {
        power_off();
        state.formatting |= format;
    }
}

/* What the mount shows is what was, or what was under way; from now on it stays. */
void Play::judge(bool format)
{
    bool empty = true;

    for (unsigned s = 0; s < shape.sectors; s++) {
        empty = empty && state.map[s] == kNone;
    }
    for (unsigned s = 0; s < shape.sectors; s++) {
        uint8_t at = state.map[s];
        const Page page =
            at == kNone ? Page{} : state.blocks[block_of(at)].pages[at % kPages];
        uint8_t bit = static_cast<uint8_t>(1U << s);

        if (format || (empty && state.formatting)) {
            rename_value(state, s, CURRENT, OUTDATED);
            rename_value(state, s, PENDING, OUTDATED);
            state.nothing |= bit;
        } else if (at == kNone) {
            if (!(state.nothing & bit)) {
                broken("sector ", s, " is gone");
            }
            rename_value(state, s, PENDING, OUTDATED);
        } else if (page.holds != DATA || page.firm != STABLE || page.sector != s) {
            broken("sector ", s, " lies in a page that is not stable");
        } else if (page.value == OUTDATED || (page.value == CURRENT && (state.nothing & bit))) {
            broken("sector ", s, " shows older content");
        } else if (page.value == PENDING) {
            rename_value(state, s, CURRENT, OUTDATED);
            rename_value(state, s, PENDING, CURRENT);
            state.nothing &= static_cast<uint8_t>(~bit);
        } else {
            rename_value(state, s, PENDING, OUTDATED);
        }
    }
    state.formatting = 0;
}

/* Session */

/* The blocks of the session's stretch. */
unsigned Play::stretch() const
{
    unsigned blocks = 1U << state.block;

    for (unsigned b = 0; b < shape.blocks && rules.stretch_stays; b++) {
        blocks |= (state.blocks[b].version == state.blocks[state.block].version) << b;
    }
    return blocks;
}

/* The next block of the log without a root of its own. */
Play::Done Play::go_on(unsigned target)
{
    Block &block = state.blocks[target];
    const Block &before = state.blocks[state.block];
    Done done = erase(target);

    if (done == DONE) {
        block.version = before.version;
        block.next = static_cast<uint8_t>(before.next + 1U);
        block.map = before.map;
        block.list = before.list;
        state.block = static_cast<uint8_t>(target);
        state.next = 0;
    }
    return done;
}

/* The next block of the log, with its root. What the root before reaches stays until this one
 * counts. */
Play::Done Play::open_block()
{
    unsigned kept = reached(state.map) | reached(state.blocks[state.block].map) | stretch();
    unsigned spared = rules.list_apart ? state.list : 0U;

    if (!state.blocks[state.block].mount && state.blocks[state.block].next + 1U < shape.stretch &&
        chooser.pick(2) == 0) {
        unsigned next = take(kept | (rules.next_unlisted ? state.list : 0U));
        if (next != kNone) {
            return go_on(next);
        }
    }
    unsigned target = take(kept | spared);

    if (target == kNone && std::popcount(state.list) > kLeastList) {
        target = take(kept);
    }
    if (target == kNone) {
        broken("no free block for a session");
        return CUT;
    }
    uint8_t version = version_above(state.blocks[state.block].version);
    Done done = erase(target);
    if (done != DONE) {
        return done;
    }
    Block &block = state.blocks[target];
    state.list = choose_list(kept | 1U << target,
                             static_cast<uint8_t>(state.list & ~(1U << target)));
    block.version = version;
    block.next = 0;
    block.map = state.map;
    block.list = state.list;
    for (unsigned p = 0; p < kRoots && done == DONE; p++) {
        done = program(target, p, Page{ROOT, STABLE, 0, 0});
    }
    if (done == DONE) {
        state.block = static_cast<uint8_t>(target);
        state.next = kRoots;
    }
    return done;
}

/* A sector is written, or moved as cleaning does. A program that fails is a cut without one. */
void Play::put(unsigned sector, bool is_write)
{
    tell(is_write ? "write" : "move", " sector ", sector);
    Done done = state.next >= shape.pages ? open_block() : DONE;
    if (done == DONE) {
        done = program(state.block, state.next,
                       Page{DATA, STABLE, static_cast<uint8_t>(is_write ? PENDING : CURRENT),
                            static_cast<uint8_t>(sector & 1U)});
    }
    if (done == FAILED) {
        power_off();
        mount(false);
        return; /* the call may be tried again */
    }
    if (done == DONE) {
        state.map[sector] = place(state.block, state.next);
        state.next++;
        if (is_write) {
            rename_value(state, sector, CURRENT, OUTDATED);
            rename_value(state, sector, PENDING, CURRENT);
            state.nothing &= static_cast<uint8_t>(~(1U << sector));
        }
    }
}

void Play::go()
{
    if (!state.on) {
        mount(chooser.pick(2) == 1);
        return;
    }
    unsigned way = chooser.pick(1U + 2U * shape.sectors);
    unsigned sector = way / 2U % shape.sectors;
    if (way == 2U * shape.sectors) {
        tell("rest");
        power_off();
    } else if (way % 2U == 0) {
        put(sector, true);
    } else if (state.map[sector] != kNone) {
        put(sector, false);
    }
}

void Play::call()
{
    go();
    if (!is_broken && certain_version(state, shape, false) <= state.forgotten) {
        broken("a root that was given up may count again");
    }
}

static std::string name(unsigned block, unsigned page)
{
    return "b" + std::to_string(block) + "." + std::to_string(page);
}

std::string print(const State &state, const Shape &shape)
{
    static const char kinds[] = "-RDE";
    static const char firms[] = ".+~";
    static const char values[] = "cpo";
    std::string text;

    for (unsigned b = 0; b < shape.blocks; b++) {
        const Block &block = state.blocks[b];
        text += "  b" + std::to_string(b) + " v" + std::to_string(block.version / kStep) +
                (block.failing ? " failing" : "") + (block.spent ? " spent\n" : "");
        if (block.spent) {
            continue;
        }
        for (unsigned p = 0; p < shape.pages; p++) {
            const Page &page = block.pages[p];
            text += std::string("  ") + kinds[page.holds] + firms[page.firm];
            if (page.holds == DATA) {
                text += std::to_string(page.sector) + values[page.value];
            }
        }
        text += "  map";
        for (unsigned s = 0; s < shape.sectors; s++) {
            uint8_t at = block.map[s];
            text += at == kNone ? " -" : " " + name(block_of(at), at % kPages);
        }
        text += "  list " + std::to_string(block.list);
        text += " end " + std::to_string(block.ended) + "\n";
    }
    text += "  list " + std::to_string(state.list) + ", nothing " + std::to_string(state.nothing);
    text += ", formatting " + std::to_string(state.formatting);
    return text + (state.on ? ", on at " + name(state.block, state.next) : ", off") + "\n";
}

} // namespace floor_rules
