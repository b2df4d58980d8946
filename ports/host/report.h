/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what a run did and cost, as JSON: the objects of docs/run.md that come from inside the
 * program. Safe in a signal handler: reads counters, writes into the buffer.
 */
#ifndef NW_HOST_REPORT_H
#define NW_HOST_REPORT_H

#include "json.h"
#include "stack.h"

#include "nandwich/heap.h"
#include "nandwich/vm.h"

/* "device": what the configuration came to. */
void nw_host_report_device(struct nw_json *json, const struct nw_host_stack *stack);

/* "vm" and "heap". */
void nw_host_report_vm(struct nw_json *json, const struct nw_vm_stats *vm);
void nw_host_report_heap(struct nw_json *json, const struct nw_heap_stats *heap);

/* "ftl", "chip", "time_ns", "energy_pj", "wear", "ram_bytes". */
void nw_host_report_storage(struct nw_json *json, struct nw_host_stack *stack);

/* "timeline": what the trace holds, once it is written; nothing without one. */
void nw_host_report_timeline(struct nw_json *json, const struct nw_host_stack *stack);

#endif
