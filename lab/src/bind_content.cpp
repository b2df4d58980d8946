// SPDX-License-Identifier: Apache-2.0
// The loop for the bench of the recogniser: how long it takes over a request.
#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

extern "C" {
#include "nandwich/content.h"
}

namespace nb = nanobind;

namespace {

double processor_seconds()
{
    timespec now;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        throw std::runtime_error("no processor clock");
    }
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<uint8_t> content_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);

    if (!file) {
        throw nb::value_error((path + ": cannot be read").c_str());
    }
    return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

// Shown the whole disk once, then asked and shown again in requests of so many bytes: requests,
// seconds, and bytes of RAM.
std::tuple<uint64_t, double, size_t> time_content(const std::string &path, uint32_t bytes,
                                                  uint32_t rounds)
{
    const std::vector<uint8_t> disk = content_of(path);
    const uint64_t size = disk.size() / bytes * bytes;
    nw_content_config config = {};
    nw_content content;
    uint64_t at = 0;
    uint32_t length = 0;
    uint64_t requests = 0;

    config.bytes = disk.size();
    config.volumes = 8;
    config.images = 2;
    config.groups = 512;
    config.extents = 1024;
    config.clusters = 32768;
    config.l1 = 2048;
    std::vector<uint64_t> ram(nw_content_ram_bytes(&config) / sizeof(uint64_t) + 1U);
    if (nw_content_open(&content, &config, ram.data(), ram.size() * sizeof(uint64_t)) != NW_OK) {
        throw nb::value_error("content: a number is out of range");
    }
    while (nw_content_want(&content, &at, &length) != 0) {
        nw_content_see(&content, at, at + length <= disk.size() ? &disk[at] : nullptr, length);
    }
    const double start = processor_seconds();

    for (uint32_t round = 0; round < rounds; round++) {
        for (uint64_t place = 0; place < size; place += bytes, requests++) {
            uint32_t run = 0;

            for (uint32_t done = 0; done < bytes; done += run) {
                (void)nw_content_class(&content, place + done, &disk[place + done], bytes - done,
                                       &run);
            }
            nw_content_see(&content, place, &disk[place], bytes);
        }
    }
    return { requests, processor_seconds() - start, nw_content_ram_bytes(&config) };
}

} // namespace

void bind_content(nb::module_ &m)
{
    m.def("time_content", &time_content, nb::arg("path"), nb::arg("bytes"), nb::arg("rounds"),
          "Requests, processor seconds and RAM of telling and seeing a whole disk so often.");
}
