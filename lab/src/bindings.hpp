// SPDX-License-Identifier: Apache-2.0
// The list of domains bound into lab._native, one function each.
#pragma once

#include <nanobind/nanobind.h>

void bind_vm(nanobind::module_ &m);
void bind_speed(nanobind::module_ &m);
void bind_lavish(nanobind::module_ &m);
void bind_store_work(nanobind::module_ &m);
void bind_content(nanobind::module_ &m);
