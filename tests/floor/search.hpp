/* SPDX-License-Identifier: Apache-2.0 */
/* search.hpp - all states of the small chip that the rules lead to, breadth first. */
#ifndef NANDWICH_FLOOR_SEARCH_HPP
#define NANDWICH_FLOOR_SEARCH_HPP

#include "play.hpp"

namespace floor_rules {

struct Found {
    uint64_t states = 0; /* different ones */
    uint64_t steps = 0;  /* calls that were played */
    unsigned calls = 0;  /* behind the last state */
    bool whole = false;  /* there is none that was not played from */
    std::string broken;  /* what is, with the history that leads there; empty: nothing */
};

/* From a formatted device on, until nothing is new, something is broken, or `most` states. */
Found search(const Shape &shape, const Rules &rules, uint64_t most);

/* Histories at random, each of so many calls from a formatted device on, until something is broken:
 * deeper than a search comes. */
Found wander(const Shape &shape, const Rules &rules, uint64_t seed, uint64_t walks, unsigned calls);

} // namespace floor_rules

#endif
