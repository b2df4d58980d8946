// SPDX-License-Identifier: Apache-2.0
// The device a program in virtual memory would run on, opened on trial by the C code that will open
// it for the program.
#include "bindings.hpp"
#include "paths.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>

// C has struct and function names apart; C++ wonders.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "json.h"
#include "report.h"
#include "stack.h"
}
#pragma GCC diagnostic pop

namespace nb = nanobind;

namespace {

// Any base that is a multiple of every frame: only sizes are checked.
constexpr uintptr_t AnyBase = uintptr_t{1} << 32;

std::string describe(nw_host_stack *stack)
{
    std::string text(8192, '\0');
    nw_json json = {text.data(), text.size(), 0, 0};

    nw_json_open(&json, nullptr);
    nw_host_report_device(&json, stack);
    nw_host_report_storage(&json, stack);
    nw_json_close(&json);
    text.resize(json.used);
    return text;
}

// Lines of the configuration may name files.
FilePath check(const FilePath &config_text, uint16_t frame_bytes, uint16_t slots)
{
    auto config = std::make_unique<nw_host_config>();
    auto stack = std::make_unique<nw_host_stack>();
    nw_host_guest guest = {AnyBase, frame_bytes, slots, 0};
    char line[1024];
    nw_why why = {line, sizeof line};

    nw_host_config_defaults(config.get());
    int result = nw_host_config_read(config.get(), config_text.c_str(), 0, "device", line,
                                     sizeof line);
    if (result >= 0) {
        result = nw_host_stack_open(stack.get(), config.get(), &guest, &why);
    }
    std::string told = result >= 0 ? describe(stack.get()) : line;
    nw_host_stack_close(stack.get());
    if (result < 0) {
        bool too_small = result == NW_ERR_RAM || result == NW_ERR_FULL;
        throw_text(too_small ? PyExc_MemoryError : PyExc_ValueError, told);
    }
    return FilePath{told};
}

} // namespace

void bind_host(nb::module_ &m)
{
    m.def("host_check", check, nb::arg("config"), nb::arg("frame_bytes"), nb::arg("slots"),
          "What the device of a key=value configuration comes to, as JSON; with the arithmetic "
          "MemoryError where RAM or chip are too small, and ValueError for all else.");
}
