// SPDX-License-Identifier: Apache-2.0
// Virtual memory on small known programs: what policies and schemes cost, and how fast they decide.
#include "bindings.hpp"

#include <nanobind/stl/string.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "vm_kernels.hpp"

namespace nb = nanobind;

namespace {

using Counts = nb::typed<nb::dict, nb::str, nb::any>;

Counts run(const std::string &kernel, const std::string &policy, unsigned frame_bytes,
             unsigned frames, unsigned sector_bytes)
{
    if (policy != "clock" && policy != "lru") {
        throw std::invalid_argument("policy is clock or lru");
    }
    if (frame_bytes > 32768 || frames > 65000 || sector_bytes > 32768) {
        throw std::invalid_argument("frame_bytes, frames or sector_bytes out of range");
    }
    nw::PagedMemory memory(static_cast<std::uint16_t>(frame_bytes),
                           static_cast<std::uint16_t>(frames),
                           static_cast<std::uint16_t>(sector_bytes),
                           policy == "lru" ? NW_VM_LRU : NW_VM_CLOCK);
    const auto start = std::chrono::steady_clock::now();
    nw::run_kernel(memory, kernel);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    const nw_vm_stats &stats = memory.stats();
    Counts result;

    result["seconds"] = passed.count();
    result["accesses"] = stats.accesses;
    result["slot_misses"] = stats.slot_misses;
    result["faults"] = stats.faults;
    result["zero_pages"] = stats.zero_pages;
    result["writebacks"] = stats.writebacks;
    result["sectors_read"] = stats.sectors_read;
    result["sectors_written"] = stats.sectors_written;
    return result;
}

} // namespace

void bind_vm(nb::module_ &m)
{
    m.def("vm_kernel", &run, nb::arg("kernel"), nb::arg("policy"), nb::arg("frame_bytes"),
          nb::arg("frames"), nb::arg("sector_bytes"),
          "Run a kernel (quicksort, fft, tree, counters, table) on 1 MB of virtual memory over a "
          "device in RAM; answers the counts of struct nw_vm_stats and the seconds it took.");
}
