/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#define COUNT(json, from, name) nw_json_number(json, #name, (from)->name)

void nw_host_report_device(struct nw_json *json, const struct nw_host_stack *stack)
{
    const struct nw_host_config *config = &stack->config;
    int lavish = config->layer == &nw_layer_lavish;

    nw_json_open(json, "device");
    nw_json_text(json, "chip", stack->device.part.name);
    nw_json_text(json, "ftl", config->layer->name);
    nw_json_number(json, "degree", lavish ? config->degree : 0);
    nw_json_number(json, "maps", lavish ? config->maps : 0);
    nw_json_text(json, "ecc", nw_host_ecc_name(config->ecc));
    nw_json_text(json, "scheme", nw_host_scheme_name(stack->scheme));
    nw_json_text(json, "policy", nw_host_policy_name(config->policy));
    nw_json_number(json, "vm_bytes", stack->vm.bytes);
    nw_json_number(json, "frame_bytes", stack->vm.frame_bytes);
    nw_json_number(json, "frames", stack->vm.frames);
    nw_json_number(json, "slots", stack->vm.slots);
    nw_json_number(json, "lookaside", stack->vm.lookaside_entries);
    nw_json_number(json, "blocks", stack->device.chip->geometry.blocks);
    nw_json_number(json, "sector_bytes", stack->device.block->sector_bytes);
    nw_json_number(json, "seed", config->seed);
    nw_json_close(json);
}

void nw_host_report_vm(struct nw_json *json, const struct nw_vm_stats *vm)
{
    uint64_t hits = vm->accesses > vm->slot_misses ? vm->accesses - vm->slot_misses : 0;

    nw_json_open(json, "vm");
    COUNT(json, vm, accesses);
    nw_json_number(json, "slot_hits", hits);
    COUNT(json, vm, slot_misses);
    COUNT(json, vm, straddles);
    COUNT(json, vm, identity);
    COUNT(json, vm, faults);
    COUNT(json, vm, zero_pages);
    COUNT(json, vm, covered);
    COUNT(json, vm, buffer_hits);
    COUNT(json, vm, mapped);
    COUNT(json, vm, evictions);
    COUNT(json, vm, writebacks);
    COUNT(json, vm, merges);
    COUNT(json, vm, sectors_read);
    COUNT(json, vm, sectors_written);
    COUNT(json, vm, discards);
    COUNT(json, vm, bulk_calls);
    COUNT(json, vm, bulk_bytes);
    nw_json_close(json);
}

void nw_host_report_heap(struct nw_json *json, const struct nw_heap_stats *heap)
{
    nw_json_open(json, "heap");
    nw_json_number(json, "used_bytes", heap->used);
    nw_json_number(json, "peak_bytes", heap->peak);
    nw_json_number(json, "refused", heap->failures);
    nw_json_close(json);
}

static void report_layer(struct nw_json *json, const struct nw_stats *stats)
{
    nw_json_open(json, "ftl");
    COUNT(json, stats, host_reads);
    COUNT(json, stats, host_writes);
    COUNT(json, stats, host_trims);
    COUNT(json, stats, syncs);
    COUNT(json, stats, reads);
    COUNT(json, stats, programs);
    COUNT(json, stats, erases);
    COUNT(json, stats, bytes_read);
    COUNT(json, stats, bytes_programmed);
    COUNT(json, stats, copies);
    COUNT(json, stats, map_reads);
    COUNT(json, stats, map_programs);
    COUNT(json, stats, merges_switch);
    COUNT(json, stats, merges_partial);
    COUNT(json, stats, merges_full);
    COUNT(json, stats, corrected);
    COUNT(json, stats, retired);
    COUNT(json, stats, lost);
    nw_json_close(json);
}

static void report_chip(struct nw_json *json, const struct nw_nand_counts *now,
                        const struct nw_nand_counts *before)
{
#define SINCE(name) nw_json_number(json, #name, now->name - before->name)
    nw_json_open(json, "chip");
    SINCE(reads);
    SINCE(programs);
    SINCE(erases);
    SINCE(copies);
    SINCE(bytes_read);
    SINCE(bytes_programmed);
    SINCE(bits_flipped);
    SINCE(bits_corrected);
    SINCE(failures);
    SINCE(misuses);
    nw_json_close(json);
#undef SINCE
}

static void report_wear(struct nw_json *json, const struct nw_host_stack *stack)
{
    const struct nw_stack *device = &stack->device;
    uint32_t blocks = nw_nand_chip(device->nand)->geometry.blocks, worst = 0;
    uint64_t all = 0;

    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t erases = nw_nand_block_erases(device->nand, block) - device->erases_before[block];

        worst = erases > worst ? erases : worst;
        all += erases;
    }
    nw_json_open(json, "wear");
    nw_json_number(json, "endurance", stack->device.part.endurance);
    nw_json_number(json, "blocks", blocks);
    nw_json_number(json, "erases", all);
    nw_json_number(json, "worst_erases", worst);
    nw_json_close(json);
}

static void report_ram(struct nw_json *json, const struct nw_host_stack *stack)
{
    uint64_t frames = (uint64_t)stack->vm.frames * stack->vm.frame_bytes;
    uint64_t entries = (uint64_t)stack->vm.slots + stack->vm.lookaside_entries;
    uint64_t slots = entries * sizeof(struct nw_vm_slot);

    nw_json_open(json, "ram_bytes");
    nw_json_number(json, "frames", frames);
    nw_json_number(json, "vm_tables", stack->vm.ram_bytes - frames);
    nw_json_number(json, "slots", slots);
    nw_json_number(json, "statics", stack->statics_bytes);
    nw_json_number(json, "ftl", stack->device.layer_ram_bytes);
    nw_json_number(json, "ecc", stack->device.ecc_ram_bytes);
    nw_json_number(json, "total",
                   stack->vm.ram_bytes + slots + stack->statics_bytes +
                       stack->device.layer_ram_bytes + stack->device.ecc_ram_bytes);
    nw_json_close(json);
}

void nw_host_report_storage(struct nw_json *json, struct nw_host_stack *stack)
{
    const struct nw_meter *meter = nw_nand_meter(stack->device.nand);

    report_layer(json, stack->device.block->stats);
    report_chip(json, nw_nand_stats(stack->device.nand), &stack->device.before);
    nw_json_open(json, "mapped");
    COUNT(json, &stack->mapped, reads);
    COUNT(json, &stack->mapped, bytes_read);
    COUNT(json, &stack->mapped, writes);
    COUNT(json, &stack->mapped, bytes_written);
    COUNT(json, &stack->mapped, peak_bytes);
    nw_json_close(json);
    nw_json_open(json, "time_ns");
    nw_json_number(json, "storage", meter->time_ns);
    nw_json_close(json);
    nw_json_number(json, "energy_pj", meter->energy_pj);
    report_wear(json, stack);
    report_ram(json, stack);
}

void nw_host_report_timeline(struct nw_json *json, const struct nw_host_stack *stack)
{
    const struct nw_timeline_counts *counts;

    if (stack->timeline == NULL) {
        return;
    }
    counts = nw_timeline_outcome(stack->timeline);
    nw_json_open(json, "timeline");
    COUNT(json, counts, requests);
    COUNT(json, counts, operations);
    COUNT(json, counts, shown);
    COUNT(json, counts, inside);
    COUNT(json, counts, left_out);
    COUNT(json, counts, cut);
    COUNT(json, counts, bytes);
    nw_json_close(json);
}
