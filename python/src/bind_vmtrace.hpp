// SPDX-License-Identifier: Apache-2.0
// A recorded sequence of accesses as a Python object, for all that reads one.
#pragma once

#include "paths.hpp"

#include <string>

extern "C" {
#include "nandwich-vmtrace/access.h"
}

class AccessTrace {
public:
    explicit AccessTrace(const FilePath &path);
    AccessTrace(const AccessTrace &) = delete;
    AccessTrace &operator=(const AccessTrace &) = delete;
    ~AccessTrace() { nw_access_close(reader_); }

    nw_access_reader *get() const { return reader_; }
    std::string cut() const { return nw_access_fault_of(reader_)->text; }

    // How many; throws what the trace has to say about an error.
    int read(nw_access *to, uint32_t room)
    {
        const int count = nw_access_read(reader_, to, room);

        if (count < 0) {
            fail(count, *nw_access_fault_of(reader_));
        }
        return count;
    }
    void rewind()
    {
        const int error = nw_access_rewind(reader_);

        if (error < 0) {
            fail(error, *nw_access_fault_of(reader_));
        }
    }

private:
    [[noreturn]] void fail(int error, const nw_access_fault &fault) const;

    std::string path_;
    nw_access_reader *reader_ = nullptr;
};
