/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - runs an image of ports/device and reports what it took.
 *
 *   NANDWICH_DEVICE=SETTINGS emulator NAME [ARGUMENTS...]
 *
 * SETTINGS is a file of key=value lines (struct settings). The guest's name and arguments are the
 * emulator's own, and so are its stdin, stdout, stderr, folder and exit status; 125: the emulator
 * itself failed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"
#include "nandwich-watch/pause.h"

#define ENDED_BADLY 134 /* as a shell shows abort() */

static void read_range(const char *text, struct range *range)
{
    if (sscanf(text, "%" SCNu32 ",%" SCNu32, &range->start, &range->bytes) != 2) {
        machine_fail("settings", text);
    }
}

static void read_owner(const char *text, struct settings *settings)
{
    struct owner *owner = &settings->owners[settings->owner_count];

    if (settings->owner_count == OWNERS_MAX - 1 ||
        sscanf(text, "%63[^,],%" SCNu32 ",%" SCNu32, owner->name, &owner->start, &owner->end) !=
            3) {
        machine_fail("settings", text);
    }
    settings->owner_count++;
}

/* BLOCK,FILE */
static void read_place(const char *value, struct settings *settings)
{
    const char *comma = strchr(value, ',');

    if (comma == NULL || settings->place_count == PLACES_MAX) {
        machine_fail("settings", "place");
    }
    struct file_place *place = &settings->places[settings->place_count++];
    place->block = (uint32_t)strtoul(value, NULL, 0);
    (void)snprintf(place->name, sizeof place->name, "%s", comma + 1);
}

static void read_line(const char *key, const char *value, struct settings *settings)
{
    struct {
        const char *key;
        char *to;
        size_t bytes;
    } const texts[] = {{"arch", settings->arch, sizeof settings->arch},
                       {"image", settings->image, sizeof settings->image},
                       {"report", settings->report, sizeof settings->report},
                       {"accesses", settings->accesses, sizeof settings->accesses},
                       {"counted", settings->counted, sizeof settings->counted},
                       {"recording", settings->recording, sizeof settings->recording},
                       {"part", settings->part, sizeof settings->part},
                       {"fault", settings->fault, sizeof settings->fault}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(key, texts[i].key) == 0) {
            (void)snprintf(texts[i].to, texts[i].bytes, "%s", value);
            return;
        }
    }
    if (strcmp(key, "place") == 0) {
        read_place(value, settings);
    } else if (strcmp(key, "owner") == 0) {
        read_owner(value, settings);
    } else if (strcmp(key, "code") == 0) {
        read_range(value, &settings->code);
    } else if (strcmp(key, "ram") == 0) {
        read_range(value, &settings->ram);
    } else if (strcmp(key, "counts") == 0) {
        read_range(value, &settings->counts);
    } else if (strcmp(key, "port") == 0) {
        settings->port = (uint32_t)strtoul(value, NULL, 0);
    } else if (strcmp(key, "stack") == 0) {
        settings->stack_bytes = (uint32_t)strtoul(value, NULL, 0);
    } else if (strcmp(key, "hz") == 0) {
        settings->hz = (uint32_t)strtoul(value, NULL, 0);
    } else if (strcmp(key, "bus_ps") == 0) {
        settings->bus_ps = (uint32_t)strtoul(value, NULL, 0);
    } else if (strcmp(key, "bus_four") == 0) {
        settings->bus_four = strtoul(value, NULL, 0) != 0;
    } else if (strcmp(key, "byte_ns") == 0) {
        settings->byte_ns = (uint32_t)strtoul(value, NULL, 0);
    } else if (strcmp(key, "rewrite_us") == 0) {
        settings->rewrite_us = (uint32_t)strtoul(value, NULL, 0);
    } else if (strcmp(key, "seed") == 0) {
        settings->seed = (uint32_t)strtoul(value, NULL, 0);
    } else {
        machine_fail("settings", key);
    }
}

static void read_settings(struct settings *settings)
{
    const char *name = getenv("NANDWICH_DEVICE");
    FILE *file = name != NULL ? fopen(name, "r") : NULL;
    char line[8192];

    if (file == NULL) {
        machine_fail("NANDWICH_DEVICE", "no file of settings");
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char *equal = strchr(line, '=');

        line[strcspn(line, "\n")] = '\0';
        if (equal == NULL) {
            machine_fail("settings", line);
        }
        *equal = '\0';
        read_line(line, equal + 1, settings);
    }
    fclose(file);
}

static void write_flash(FILE *file, const char *name, const struct flash *from,
                        const struct flash *to)
{
    static const char *const kinds[BUS_KINDS] = {NULL, "resets", "reads", "programs", "erases"};

    fprintf(file, "\"%s\": {\"storage_ns\": %" PRIu64 ", \"chip_ns\": %" PRIu64
                  ", \"bus_bytes\": %" PRIu64,
            name, to->now_ns - from->now_ns, (to->busy_us - from->busy_us) * 1000U,
            to->bytes - from->bytes);
    for (uint32_t i = 0; i < BUS_KINDS; i++) {
        if (kinds[i] != NULL) {
            fprintf(file, ", \"%s\": %" PRIu32, kinds[i], to->begun[i] - from->begun[i]);
        }
    }
    fprintf(file, "},\n");
}

static void write_spent(FILE *file, const struct settings *settings, const char *name, bool setup)
{
    fprintf(file, "\"%s\": {", name);
    for (uint32_t i = 0; i <= settings->owner_count; i++) {
        const struct spent *all = &settings->owners[i].all, *before = &settings->owners[i].before;
        const char *owner = i < settings->owner_count ? settings->owners[i].name : "elsewhere";
        struct spent spent = *before;

        if (!setup) {
            spent.instructions = all->instructions - before->instructions;
            spent.cycles_least = all->cycles_least - before->cycles_least;
            spent.cycles_most = all->cycles_most - before->cycles_most;
        }
        fprintf(file, "%s\"%s\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", i > 0 ? ", " : "",
                owner, spent.instructions, spent.cycles_least, spent.cycles_most);
    }
    fprintf(file, "},\n");
}

static void write_report(struct machine *machine)
{
    static const char *const ends[] = {"none", "exit", "refused", "panic", "fault", "stack"};
    const struct settings *settings = &machine->settings;
    FILE *file = fopen(settings->report, "w");
    struct flash none = {0}, now = part_flash();

    if (file == NULL) {
        machine_fail(settings->report, "cannot be written");
    }
    fprintf(file, "{\"end\": \"%s\", \"status\": %d, \"detail\": [%" PRIu32 ", %" PRIu32
                  ", %" PRIu32 "],\n",
            ends[machine->end], machine->status, machine->detail[0], machine->detail[1],
            machine->detail[2]);
    fprintf(file, "\"address\": %" PRIu32 ", \"pc\": %" PRIu32 ",\n", machine->fault_at,
            machine->end == END_PANIC ? machine->program_at : machine->fault_pc);
    write_spent(file, settings, "setup", true);
    write_spent(file, settings, "run", false);
    write_flash(file, "setup_flash", &none, &machine->before);
    write_flash(file, "run_flash", &machine->before, &now);
    fprintf(file, "\"told\": {");
    for (uint32_t i = 0; i < machine->told_count; i++) {
        fprintf(file, "%s\"%s\": %" PRIu32, i > 0 ? ", " : "", machine->told[i].name,
                machine->told[i].value);
    }
    fprintf(file, "},\n\"recorded\": %" PRIu64, recording_accesses());
    fprintf(file, ",\n\"violations\": %" PRIu32 ", \"violation\": \"%s\",\n", part_violations(),
            part_violation() != NULL ? part_violation() : "");
    fprintf(file, "\"stack\": %" PRIu32 "}\n", machine_stack_peak(machine));
    if (fclose(file) != 0) {
        machine_fail(settings->report, "cannot be written");
    }
}

/* What a program that counts its blocks has in RAM at its end. */
static void write_counts(struct machine *machine)
{
    const struct settings *settings = &machine->settings;
    size_t bytes = settings->counts.bytes;
    uint8_t *counts = malloc(bytes + 1);

    if (bytes == 0) {
        free(counts);
        return;
    }
    if (counts == NULL || !machine_get(machine, settings->counts.start, counts, bytes)) {
        machine_fail("settings", "counts outside the memory");
    }
    FILE *file = fopen(settings->counted, "wb");
    bool whole = file != NULL && fwrite(counts, 1, bytes, file) == bytes;

    free(counts);
    if (file == NULL || fclose(file) != 0 || !whole) {
        machine_fail(settings->counted, "cannot be written");
    }
}

int main(int argc, char **argv)
{
    static struct machine machine;

    machine.argc = argc;
    machine.argv = argv;
    read_settings(&machine.settings);
    part_open(&machine.settings);
    machine_open(&machine);
    machine_run(&machine);
    nw_watch_pause(); /* neither the report nor a recording is a file of the guest's */
    recording_close(&machine);
    write_counts(&machine);
    write_report(&machine);
    return machine.end == END_EXIT ? machine.status : ENDED_BADLY;
}
