// SPDX-License-Identifier: Apache-2.0
// A timeline as a Python object, for bindings of what is recorded on it.
#pragma once

#include "nandwich-twin/timeline.h"

class PyTimeline {
public:
    PyTimeline(uint64_t from, uint64_t to, bool by_time);
    ~PyTimeline() { nw_timeline_close(timeline_); }
    PyTimeline(const PyTimeline &) = delete;
    PyTimeline &operator=(const PyTimeline &) = delete;

    nw_timeline *get() const { return timeline_; }

private:
    nw_timeline *timeline_ = nullptr;
};
