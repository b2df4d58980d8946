// SPDX-License-Identifier: Apache-2.0
// Small programs that run on virtual memory through hand-written guards: known access patterns for
// measuring policies and schemes without a compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "nandwich/vm.h"

namespace nw {

// A virtual memory of 1 MB with 16 slots over a block device in plain memory.
class PagedMemory {
public:
    // A slot is what the compiler gives one pointer of the program.
    static constexpr unsigned slots = 16;
    static constexpr std::uint32_t bytes = 1U << 20;

    PagedMemory(std::uint16_t frame_bytes, std::uint16_t frames, std::uint16_t sector_bytes,
                nw_vm_policy policy);
    PagedMemory(const PagedMemory &) = delete;
    PagedMemory &operator=(const PagedMemory &) = delete;

    template <typename T> T load(unsigned slot, std::uint32_t offset)
    {
        T value;
        nw_vm_slot &held = table_[slot];
        const std::uintptr_t at = base + offset - held.read_tag;

        vm_.stats.accesses++;
        std::memcpy(&value,
                    at <= vm_.frame_bytes - sizeof(T)
                        ? held.base + at
                        : nw_vm_load_miss(&held, base + offset, sizeof(T), &vm_),
                    sizeof(T));
        return value;
    }

    template <typename T> void store(unsigned slot, std::uint32_t offset, T value)
    {
        nw_vm_slot &held = table_[slot];
        const std::uintptr_t at = base + offset - held.write_tag;

        vm_.stats.accesses++;
        if (at <= vm_.frame_bytes - sizeof(T)) {
            std::memcpy(held.base + at, &value, sizeof(T));
        } else {
            nw_vm_store_miss(&vm_, &held, base + offset, sizeof(T), &value);
        }
    }

    const nw_vm_stats &stats() const { return vm_.stats; }

private:
    static constexpr std::uintptr_t base = 0x40000000;

    std::vector<std::uint8_t> device_;
    std::vector<std::uint8_t> ram_;
    nw_block block_{};
    nw_vm_slot table_[slots]{};
    nw_vm vm_{};
};

// Runs the kernel of that name; throws std::invalid_argument for another name.
void run_kernel(PagedMemory &memory, const std::string &name);

} // namespace nw
