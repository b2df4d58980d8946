/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - the part on the board's bus, at command level, and the time it takes beside the
 * processor's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "part_kinds.h"

#define PAGE_BYTES_MAX 4096U
#define PAUSE_NS 100U

static struct part part;
static bool loses;
static const uint64_t *cycles;
static uint32_t hz;
static uint64_t told_ns;       /* of the processor's time, so far */
static uint64_t next_ns;       /* no byte goes before */

/* Files that lie on the part. */
static struct place {
    dev_t device;
    ino_t inode;
    struct timespec written;
    uint32_t block, blocks;
} placed[2U * PLACES_MAX];
static uint32_t placed_count;

static bool is_free(uint32_t block)
{
    for (uint32_t i = 0; i < placed_count; i++) {
        if (block - placed[i].block < placed[i].blocks) {
            return false;
        }
    }
    return nw_nand_block_bad(part.bus->nand, block) == 0;
}

/* The last run of so many good blocks that no file has, behind `others`; 0: there is none. */
static uint32_t free_blocks(uint32_t count, uint32_t others)
{
    uint32_t at = part.files->geometry.blocks, run = 0;

    while (at > others && run < count) {
        at--;
        run = is_free(at) ? run + 1U : 0;
    }
    return run == count ? at : 0;
}

static bool put_page(int file, struct nw_chip *chip, uint32_t page, off_t offset)
{
    static uint8_t data[PAGE_BYTES_MAX];
    struct nw_chip_req req = {.chip = chip, .page = page, .data = data};
    ssize_t got = pread(file, data, chip->geometry.page_bytes, offset);

    if (got < 0) {
        return false;
    }
    memset(data + got, 0, chip->geometry.page_bytes - (size_t)got);
    req.block = page / chip->geometry.block_pages;
    req.length = chip->geometry.page_bytes;
    return nw_chip_program(&req) >= 0;
}

static uint32_t blocks_of(const struct stat *state)
{
    const struct nw_geometry *geometry = &part.files->geometry;
    uint64_t bytes = (uint64_t)geometry->block_pages * geometry->page_bytes;

    return (uint32_t)(((uint64_t)state->st_size + bytes - 1U) / bytes);
}

/* A file's content, from a block on: the block, or -1. */
static int64_t put(int file, const struct stat *state, uint32_t block)
{
    const struct nw_geometry *geometry = &part.files->geometry;

    if (placed_count == sizeof placed / sizeof placed[0]) {
        errno = ENOSPC;
        return -1;
    }
    for (off_t at = 0; at < state->st_size; at += geometry->page_bytes) {
        uint32_t page = block * geometry->block_pages + (uint32_t)(at / geometry->page_bytes);

        if (!put_page(file, part.files, page, at)) {
            return -1;
        }
    }
    placed[placed_count++] =
        (struct place){state->st_dev, state->st_ino, state->st_mtim, block, blocks_of(state)};
    return block;
}

/* A file that has a place of its own. */
static void put_there(const struct file_place *place)
{
    int file = open(place->name, O_RDONLY);
    struct stat state;
    char why[128];

    if (file < 0 || fstat(file, &state) != 0) {
        machine_fail(place->name, strerror(errno));
    }
    for (uint32_t i = 0; i < blocks_of(&state); i++) {
        uint32_t block = place->block + i;

        if (block >= part.files->geometry.blocks || !is_free(block)) {
            (void)snprintf(why, sizeof why, "block %u of the part is bad, or another file's",
                           (unsigned)block);
            machine_fail(place->name, why);
        }
    }
    (void)put(file, &state, place->block);
    (void)close(file);
}

/* Of a file as it is now; NULL: it has none. */
static const struct place *place_of(const struct stat *state)
{
    for (uint32_t i = 0; i < placed_count; i++) {
        const struct place *one = &placed[i];

        if (one->device == state->st_dev && one->inode == state->st_ino &&
            one->written.tv_sec == state->st_mtim.tv_sec &&
            one->written.tv_nsec == state->st_mtim.tv_nsec) {
            return one;
        }
    }
    return NULL;
}

int64_t part_place(int file, uint32_t others)
{
    struct stat state;

    if (part.files == NULL || fstat(file, &state) != 0) {
        return -1;
    }
    const struct place *known = place_of(&state);

    if (known != NULL && known->block >= others) {
        return known->block;
    }
    uint32_t first = known != NULL ? 0 : free_blocks(blocks_of(&state), others);

    if (first == 0) {
        errno = ENOSPC;
        return -1;
    }
    return put(file, &state, first);
}

void part_open(const struct settings *settings)
{
    hz = settings->hz;
    loses = strcmp(settings->fault, "ecc") == 0;
    part_kind_open(&part, settings);
    for (uint32_t i = 0; i < settings->place_count; i++) {
        put_there(&settings->places[i]);
    }
}

void part_clock(const uint64_t *count)
{
    cycles = count;
}

/* What the processor took since it last asked the part is time for the part too. */
static void catch_up(void)
{
    if (cycles != NULL) {
        uint64_t now_ns = *cycles / hz * 1000000000U + *cycles % hz * 1000000000U / hz;

        part.bus->now_ns += now_ns - told_ns;
        told_ns = now_ns;
    }
}

void part_main_begins(void)
{
    if (loses && part.lose != NULL) {
        part.lose();
    }
}

void part_select(uint32_t on)
{
    catch_up();
    if (part.lanes != NULL) {
        (void)part.lanes->ops->select(part.lanes, on != 0);
    } else {
        (void)part.spi->ops->select(part.spi, on != 0);
    }
}

/* A register of the bus that this part does not hang on ends the run. */
static void must_hang_on(const void *bus)
{
    if (bus == NULL) {
        machine_fail("the board", "a register of another bus");
    }
}

void part_latch(bool is_address, uint8_t byte)
{
    must_hang_on(part.lanes);
    catch_up();
    (void)part.lanes->ops->latch(part.lanes, is_address, &byte, 1);
}

void part_put(uint8_t byte)
{
    must_hang_on(part.lanes);
    catch_up();
    (void)part.lanes->ops->write(part.lanes, &byte, 1);
}

uint8_t part_get(void)
{
    uint8_t byte = 0xFF;

    must_hang_on(part.lanes);
    catch_up();
    (void)part.lanes->ops->read(part.lanes, &byte, 1);
    return byte;
}

void part_pause(void)
{
    catch_up();
    part.bus->now_ns += PAUSE_NS;
}

uint8_t part_exchange(uint8_t byte)
{
    uint8_t answer = 0xFF;

    must_hang_on(part.spi);
    catch_up();
    if (part.bus->now_ns < next_ns) {
        part.bus->now_ns = next_ns;
    }
    next_ns = part.bus->now_ns + part.byte_ns;
    (void)part.spi->ops->transfer(part.spi, &byte, &answer, 1);
    return answer;
}

void part_move(uint8_t *bytes, uint32_t count, enum board_move how)
{
    struct nw_spi *spi = part.spi;
    struct nw_parallel_bus *lanes = part.lanes;

    catch_up();
    if (lanes != NULL) {
        (void)(how == MOVE_OUT ? lanes->ops->write(lanes, bytes, (uint16_t)count)
                               : lanes->ops->read(lanes, bytes, (uint16_t)count));
    } else if (how == MOVE_OUT) {
        (void)spi->ops->transfer(spi, bytes, NULL, (uint16_t)count);
    } else if (how == MOVE_IN) {
        (void)spi->ops->transfer(spi, NULL, bytes, (uint16_t)count);
    } else if (spi->ops->read4 != NULL) {
        (void)spi->ops->read4(spi, bytes, (uint16_t)count);
    }
}

void part_wait(uint32_t us)
{
    catch_up();
    (void)bus_wait(part.bus, (uint16_t)us);
}

struct flash part_flash(void)
{
    const struct bus *bus = part.bus;

    catch_up();
    struct flash flash = {bus->now_ns, bus->busy_us, bus->bytes, {0}};

    if (part.is_own_time) {
        flash.now_ns -= told_ns;
    }
    memcpy(flash.begun, bus->begun, sizeof flash.begun);
    return flash;
}

uint32_t part_violations(void)
{
    return part.bus->violations;
}

const char *part_violation(void)
{
    return part.bus->violations != 0 ? part.bus->why : NULL;
}
