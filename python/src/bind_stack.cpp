// SPDX-License-Identifier: Apache-2.0
// What a device can be put together from: the table of translation layers.
#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "nandwich-stack/layers.h"

namespace nb = nanobind;

namespace {

std::vector<std::tuple<std::string, std::string, bool, bool>> layers()
{
    std::vector<std::tuple<std::string, std::string, bool, bool>> all;

    for (uint32_t i = 0; i < nw_layer_kind_count; i++) {
        const nw_layer_kind *kind = nw_layer_kinds[i];
        all.emplace_back(kind->name, kind->what, kind->mount != nullptr, kind->model != 0);
    }
    return all;
}

} // namespace

void bind_stack(nb::module_ &m)
{
    m.def("layers", &layers,
          "Translation layers: name, what it is, whether it survives power, is a model.");
}
