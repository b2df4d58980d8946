// SPDX-License-Identifier: Apache-2.0
// lab._native: what benches and experiments play in C on the parts of nandwich._native, whose types
// it takes.
#include "bindings.hpp"

NB_MODULE(_native, m)
{
    m.doc() = "Loops of benches and experiments over the core, timed or counted.";
    nanobind::module_::import_("nandwich._native"); // registers the types
    bind_vm(m);
    bind_speed(m);
    bind_lavish(m);
    bind_store_work(m);
    bind_content(m);
}
