/* SPDX-License-Identifier: Apache-2.0 */
#include "search.hpp"

#include <cstring>
#include <unordered_set>

namespace floor_rules {

namespace {

uint64_t hash_of(const State &state)
{
    std::array<uint64_t, (sizeof(State) + 7) / 8> words{};
    uint64_t hash = 0x9E3779B97F4A7C15U;

    std::memcpy(words.data(), &state, sizeof state);
    for (uint64_t word : words) {
        hash = (hash ^ word) * 0xFF51AFD7ED558CCDU;
        hash ^= hash >> 32;
    }
    return hash;
}

class Search {
public:
    Search(const Shape &shape, const Rules &rules) : shape_(shape), rules_(rules) { grow(); }

    Found run(uint64_t most);

private:
    const Shape &shape_;
    const Rules &rules_;
    std::vector<State> states_;
    std::vector<uint32_t> parents_;
    std::unordered_set<uint64_t> ends_; /* of the state that is being played from: hashes */
    std::vector<uint32_t> slots_; /* places in states_ and 1; 0: free */

    void grow();
    bool add(const State &state, uint32_t parent);
    bool expand(uint32_t at, Found &found);
    std::string history(uint32_t at, const std::string &last);
    std::string step_to(uint32_t at);
};

void Search::grow()
{
    std::vector<uint32_t> slots(slots_.empty() ? 1U << 16 : slots_.size() * 2);

    for (uint32_t i = 0; i < states_.size(); i++) {
        size_t slot = hash_of(states_[i]) & (slots.size() - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (slots.size() - 1);
        }
        slots[slot] = i + 1;
    }
    slots_.swap(slots);
}

bool Search::add(const State &state, uint32_t parent)
{
    size_t slot = hash_of(state) & (slots_.size() - 1);

    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
        if (states_[slots_[slot] - 1] == state) {
            return false;
        }
    }
    states_.push_back(state);
    parents_.push_back(parent);
    slots_[slot] = static_cast<uint32_t>(states_.size());
    if (states_.size() * 2 > slots_.size()) {
        grow();
    }
    return true;
}

/* All that one call can lead to. False: something is broken. */
bool Search::expand(uint32_t at, Found &found)
{
    Chooser chooser;

    ends_.clear();
    do {
        Play play(states_[at], shape_, rules_, chooser, nullptr);
        play.call();
        found.steps++;
        if (play.is_broken) {
            std::string told;
            chooser.restart();
            Play again(states_[at], shape_, rules_, chooser, &told);
            again.call();
            found.broken = history(at, told);
            return false;
        }
        if (ends_.insert(hash_of(play.state)).second) {
            add(normal(play.state, shape_), at);
        }
    } while (chooser.advance());
    return true;
}

/* What leads from a state's parent to it. */
std::string Search::step_to(uint32_t at)
{
    Chooser chooser;

    do {
        std::string told;
        Play play(states_[parents_[at]], shape_, rules_, chooser, &told);
        play.call();
        if (normal(play.state, shape_) == states_[at]) {
            return told;
        }
    } while (chooser.advance());
    return "?";
}

std::string Search::history(uint32_t at, const std::string &last)
{
    std::string text = print(states_[at], shape_) + last + "\n";

    for (; at != 0; at = parents_[at]) {
        text = print(states_[parents_[at]], shape_) + step_to(at) + "\n" + text;
    }
    return text;
}

/* A device that was formatted. */
State formatted(const Shape &shape)
{
    State state{};

    for (Block &block : state.blocks) {
        erase_whole(block);
    }
    Block &root = state.blocks[0];
    root.version = 2;
    root.mount = 1;
    root.pages[0] = root.pages[1] = Page{ROOT, STABLE, 0, 0};
    root.pages[kEnd] = root.pages[kEnd + 1] = Page{END, STABLE, 0, 0};
    root.ended = static_cast<uint8_t>(((1U << shape.listed) - 1U) << 1U);
    root.list = root.ended;
    state.nothing = static_cast<uint8_t>((1U << shape.sectors) - 1U);
    return normal(state, shape);
}

Found Search::run(uint64_t most)
{
    Found found;
    size_t level = 1;

    add(formatted(shape_), 0);
    for (uint32_t at = 0; at < states_.size() && states_.size() < most; at++) {
        if (at == level) {
            level = states_.size();
            found.calls++;
        }
        if (!expand(at, found)) {
            break;
        }
        found.whole = at + 1U == states_.size();
    }
    found.states = states_.size();
    return found;
}

} // namespace

Found wander(const Shape &shape, const Rules &rules, uint64_t seed, uint64_t walks, unsigned calls)
{
    Chooser chooser(seed);
    Found found;

    for (uint64_t walk = 0; walk < walks && found.broken.empty(); walk++) {
        State state = formatted(shape);
        std::string told;
        for (unsigned call = 0; call < calls && found.broken.empty(); call++) {
            Play play(state, shape, rules, chooser, &told);
            chooser.forget();
            told += print(state, shape);
            play.call();
            told += "\n";
            state = normal(play.state, shape);
            found.broken = play.is_broken ? told : "";
            found.steps++;
        }
    }
    return found;
}

Found search(const Shape &shape, const Rules &rules, uint64_t most)
{
    return Search(shape, rules).run(most);
}

} // namespace floor_rules
