// SPDX-License-Identifier: Apache-2.0
// Goal: no history of power cuts and failing blocks breaks the rules by which the tree's floor
// mounts (docs/floor-rules.md), and each rule that histories need is missed when it is left out.
// The table of that page is what this prints:
//   NW_SOAK=1 build/release/tests/test_floor_rules test_rules_are_needed
// ctest: slow
// ctest: soak
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" { // cmocka's header does not say so itself
#include <cmocka.h>
}

#include "effort.h"
#include "search.hpp"

namespace {

using namespace floor_rules;

constexpr Shape kSmall{7, 5, 1, 0, 3, 1};
constexpr Shape kTwoSectors{8, 5, 2, 0, 3, 1};
constexpr Shape kFailing{8, 5, 1, 1, 3, 1};
constexpr Shape kStretch{8, 5, 1, 0, 3, 2}; /* two blocks behind a root */
constexpr Shape kStretchOfTwoSectors{8, 5, 2, 0, 3, 2};
constexpr Shape kStretchFailing{8, 5, 1, 1, 3, 2};
constexpr Shape kStretchOfThree{8, 5, 1, 0, 3, 3};
constexpr unsigned kCalls = 60; /* a walk */

constexpr uint64_t kLess = EFFORT(1, 10); /* so many times shorter */

bool is_soak()
{
    return std::getenv("NW_SOAK") != nullptr;
}

void check(const char *what, const Found &found)
{
    if (!found.broken.empty()) {
        print_message("%s\n", found.broken.c_str());
    }
    print_message("%s: %lu states, %lu calls\n", what, (unsigned long)found.states,
                  (unsigned long)found.steps);
    assert_true(found.broken.empty());
}

/* All that can happen, from a formatted device on, until it is too much. */
void test_search(void **)
{
    check("one sector", search(kSmall, Rules{}, is_soak() ? 20000000U : 40000U / kLess));
    check("a block that fails", search(kFailing, Rules{}, is_soak() ? 10000000U : 10000U / kLess));
    check("stretches", search(kStretch, Rules{}, is_soak() ? 4000000U : 20000U / kLess));
}

/* Longer histories, at random. */
void test_walks(void **)
{
    uint64_t walks = is_soak() ? 5000000U : 5000U / kLess;

    check("one sector", wander(kSmall, Rules{}, 11, walks, kCalls));
    check("two sectors", wander(kTwoSectors, Rules{}, 12, walks, kCalls));
    check("a block that fails", wander(kFailing, Rules{}, 13, walks, kCalls));
    walks = is_soak() ? 1000000U : walks;
    check("stretches", wander(kStretch, Rules{}, 14, walks, kCalls));
    check("stretches of two sectors", wander(kStretchOfTwoSectors, Rules{}, 15, walks, kCalls));
    check("a block of a stretch that fails", wander(kStretchFailing, Rules{}, 16, walks, kCalls));
    check("stretches of three", wander(kStretchOfThree, Rules{}, 17, walks, kCalls));
}

/* Each rule without which a history breaks a promise: left out, it is missed. */
void test_rules_are_needed(void **)
{
    static const struct {
        const char *name;
        bool Rules::*rule;
        const Shape *shape = &kSmall;
    } needed[] = { /* those that take longest come first */
        {"a mount erases suspects first", &Rules::suspects_first},
        {"a base is passed over whose END is blank alone", &Rules::passes_blank},
        {"a next block's first page is its last", &Rules::next_shows, &kStretch},
        {"a copy is copied again", &Rules::copies_again},
        {"a session leaves the list alone", &Rules::list_apart},
        {"an END tells whether there is a copy", &Rules::end_tells_copy},
        {"the list is passed on without the base", &Rules::list_less},
        {"a session's root counts behind a page", &Rules::confirmed},
        {"a mount's block is not its base", &Rules::spares_base},
        {"versions are above all that show", &Rules::above_all},
        {"a mount copies the last page", &Rules::copies},
        {"a mount's root counts behind an END", &Rules::ended},
        {"a mount's block is of its base's list", &Rules::own_list},
        {"an END's list needs a second END", &Rules::trusts_proven},
        {"no block of the list goes on", &Rules::next_unlisted, &kStretch},
        {"blocks of a stretch stay", &Rules::stretch_stays, &kStretch},
    };

    for (const auto &left_out : needed) {
        if (&left_out - needed < (is_soak() ? 0 : kLess > 1 ? 5 : 3)) {
            continue;
        }
        Rules rules;
        rules.*left_out.rule = false;
        Found found = wander(*left_out.shape, rules, 5, 200000, kCalls);
        print_message("without '%s': broken after %lu calls\n", left_out.name,
                      (unsigned long)found.steps);
        assert_false(found.broken.empty());
    }
}

} // namespace

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_rules_are_needed),
    };

    cmocka_set_test_filter(count > 1 ? arguments[1] : nullptr);
    return cmocka_run_group_tests_name("floor_rules", tests, nullptr, nullptr);
}
