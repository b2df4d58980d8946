// SPDX-License-Identifier: Apache-2.0
// How this module was built, for the provenance block of every result.
#include "bindings.hpp"

#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;

void bind_build(nb::module_ &m)
{
    m.def("build_type", [] { return std::string(NW_BUILD_TYPE); },
          "CMake build type of this module: Debug, Release or RelWithDebInfo.");
    m.def("build_sanitizers", [] { return std::string(NW_BUILD_SANITIZE); },
          "Sanitizers this module was built with, as -fsanitize= takes them; empty if none.");
    m.def("compiler", [] { return std::string(__VERSION__); },
          "Version text of the compiler that built this module.");
}
