// SPDX-License-Identifier: Apache-2.0
// nandwich._native: registers every domain's binding. Each bind_X.cpp defines bind_X(), declared in
// bindings.hpp and called here in the order of dependency, so that signatures name the types they
// use.
#include "bindings.hpp"

NB_MODULE(_native, m)
{
    m.doc() = "Binding over the device core, its twin and the replay engine.";
    bind_build(m);
    bind_parts(m);
    bind_twin(m);
    bind_timeline(m);
    bind_sched(m);
    bind_stack(m);
    bind_workload(m);
    bind_iotrace(m);
    bind_replay(m);
    bind_content(m);
    bind_store(m);
    bind_host(m);
    bind_torture(m);
    bind_vmtrace(m);
    bind_layout(m);
}
