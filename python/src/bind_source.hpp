// SPDX-License-Identifier: Apache-2.0
// Where requests come from, as Python objects: generators and traces.
#pragma once

#include "nandwich-replay/io.h"

// A source of requests; owns what is behind it.
class Source {
public:
    Source() = default;
    virtual ~Source() = default;
    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;

    virtual nw_io_source *get() = 0;
    // The source that it takes its requests from, itself if from none.
    virtual const Source &origin() const { return *this; }
    // Throws what the source has to say about an error it answered.
    [[noreturn]] virtual void fail(int error) const = 0;
};
