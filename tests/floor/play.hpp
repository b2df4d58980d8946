/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.hpp - the rules of the floor, played on the small chip: mount, write, move, format, with a
 * power cut before and inside each operation, and blocks that fail. Every choice that the rules
 * leave open, and every view of an unstable page, is a choice of the search.
 */
#ifndef NANDWICH_FLOOR_PLAY_HPP
#define NANDWICH_FLOOR_PLAY_HPP

#include <string>
#include <vector>

#include "chip.hpp"

namespace floor_rules {

/* The rules, each of which may be left out. */
struct Rules {
    bool confirmed = true;      /* a session's root counts when a page behind its copy shows */
    bool ended = true;          /* a mount's root counts when an END shows */
    bool copy_whole = true;     /* ... and its copy, where only the first END does */
    bool end_tells_copy = true; /* an END tells whether there is a copy */
    bool copies = true;         /* a mount copies its base's last page */
    bool copies_again = true;   /* ... also where the base is a mount block */
    bool suspects_first = true; /* a mount first erases what is neither a root nor blank */
    bool own_list = true;       /* a mount takes its block from the list of its base */
    bool list_apart = true;     /* a session leaves the list alone */
    bool list_less = true;      /* its root passes that list on without its base */
    bool trusts_proven = true;  /* an END's list is taken where its second END shows */
    bool spares_base = true;    /* a mount's block is not its base */
    bool above_all = true;      /* a new version is above all that show */
    bool passes_blank = true;   /* its list empty, a mount passes over a blank END alone; */
    bool stretch_stays = true;  /* blocks of a stretch stay until the next root counts */
    bool next_unlisted = true;  /* no block of a list goes on with a stretch */
    bool next_shows = true;     /* ... and its first page is its last unless another shows */
};

/* All ways through one call: each pass makes the choices of the pass before, but for the last one
 * that can be made otherwise. With a seed each choice is drawn, and kept for another pass. */
class Chooser {
public:
    explicit Chooser(uint64_t seed = 0) : seed_(seed)
    {
    }
    unsigned pick(unsigned count);
    bool advance(); /* to the next way; false: there is none */
    void restart() { at_ = 0; } /* the same choices once more */
    void forget() { choices_.clear(), at_ = 0; } /* none is made yet */

private:
    struct Choice {
        uint8_t made, count;
    };
    std::vector<Choice> choices_;
    size_t at_ = 0;
    uint64_t seed_;
};

/* One call from `state`, by the chooser's choices, to the state it leads to. */
class Play {
public:
    Play(const State &from, const Shape &of, const Rules &by, Chooser &chooses, std::string *story)
        : state(from), shape(of), rules(by), chooser(chooses), told(story)
    {
    }

    /* With the power off a mount or a format, else rest, a write or a move. */
    void call();

    State state;
    bool is_broken = false;

private:
    enum Done : uint8_t { DONE, CUT, FAILED, AGAIN };

    struct Head { /* of a block, as a mount sees it */
        bool root = false;
        bool next = false; /* of a stretch, but the first */
        bool suspect = false;
    };
    struct Base {
        unsigned block = kNone;
        unsigned last_block = kNone;
        unsigned last = kNone; /* page; kNone: none */
        bool proven = false; /* a mount block whose second END shows */
        Map map{};           /* without the last page */
        uint8_t list = 0;
    };

    const Shape &shape;
    const Rules &rules;
    Chooser &chooser;
    std::string *told;
    unsigned avoided = 0; /* blocks of which this call knows that they fail, a bit each */

    template <typename... Parts> void tell(const Parts &...parts)
    {
        if (told != nullptr) {
            ((*told += text(parts)), ...);
            *told += "; ";
        }
    }
    static std::string text(const char *part) { return part; }
    static std::string text(unsigned number) { return std::to_string(number); }
    template <typename... Parts> void broken(const Parts &...parts)
    {
        is_broken = true;
        tell("BROKEN: ", parts...);
    }
    void go();
    void power_off();
    void erase_half(unsigned block);
    Done erase(unsigned block);
    Done program(unsigned block, unsigned page, Page content);
    uint8_t version_above(uint8_t shown);
    unsigned take(unsigned kept);
    unsigned reached(const Map &map) const;
    Seen read(unsigned block, unsigned page);
    bool shows(unsigned block, unsigned page);
    Head see(unsigned block);
    bool counts(unsigned block, Base &base);
    bool is_confirmed(unsigned block);
    bool has_ended(unsigned block, Base &base);
    void replay(Base &base, const std::array<Head, kBlocks> &heads);
    unsigned replay_block(Base &base, unsigned block, unsigned first, bool is_last);
    unsigned next_of(const std::array<Head, kBlocks> &heads, unsigned block, unsigned next) const;
    bool erase_suspects(const std::array<Head, kBlocks> &heads);
    void mount(bool format);
    Done attempt(bool format, uint8_t &below, uint8_t &highest);
    bool choose(uint8_t below, Base &base, std::array<Head, kBlocks> &heads, unsigned &newest);
    Done build(const Base &base, unsigned target, uint8_t version, bool format);
    uint8_t choose_list(unsigned kept, uint8_t list);
    void judge(bool format);
    void put(unsigned sector, bool is_write);
    unsigned stretch() const;
    Done open_block();
    Done go_on(unsigned target);
};

std::string print(const State &state, const Shape &shape);

} // namespace floor_rules

#endif
