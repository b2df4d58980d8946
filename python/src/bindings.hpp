// SPDX-License-Identifier: Apache-2.0
// The list of domains bound into nandwich._native, one function each.
#pragma once

#include <nanobind/nanobind.h>

void bind_build(nanobind::module_ &m);
void bind_sched(nanobind::module_ &m);
void bind_content(nanobind::module_ &m);
void bind_host(nanobind::module_ &m);
void bind_parts(nanobind::module_ &m);
void bind_twin(nanobind::module_ &m);
void bind_stack(nanobind::module_ &m);
void bind_workload(nanobind::module_ &m);
void bind_iotrace(nanobind::module_ &m);
void bind_timeline(nanobind::module_ &m);
void bind_replay(nanobind::module_ &m);
void bind_store(nanobind::module_ &m);
void bind_torture(nanobind::module_ &m);
void bind_vmtrace(nanobind::module_ &m);
void bind_layout(nanobind::module_ &m);
