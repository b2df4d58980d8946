/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system on serial NAND: littlefs on the tree layer. The layer gives sectors that can be
 * written in place and survive a power cut, spreads writes over the chip and keeps bad blocks away;
 * the file system gives names. Any file system for block devices goes the same way: see the four
 * functions.
 *
 * The device is a part of the chip (nw_slice): the rest is free for a firmware image or a store.
 * RAM_BYTES beyond what the layer says it needs are a cache of its map.
 *
 * Counts its starts in the file `starts` and adds a line a tick to `log`; "kept N" is said when N
 * lines are durable. Console: `f` in the first tenth of a second formats; `d` prints the log.
 */
#include <lfs.h>
#include <stdint.h>

#include "board.h"
#include "nandwich/driver_spi_nand.h"
#include "nandwich/ftl_tree.h"
#include "nandwich/slice.h"

#ifndef BLOCKS
#define BLOCKS 64U /* of 128 KiB, from the part's first on */
#endif
#ifndef SPARE_BLOCKS
#define SPARE_BLOCKS 0U /* the layer's own choice */
#endif
#define SECTOR_BYTES 2048U
#define FILE_BLOCK_SECTORS 4U /* littlefs wants more than one write to a block */
#define LINE_MS 250U
#define LINE_BYTES 16U

static struct nw_spi_nand nand;
static struct nw_slice slice;
static struct nw_ftl_tree ftl;
static const struct nw_ftl_tree_config ftl_config = {.spare_blocks = SPARE_BLOCKS};
static uint32_t ram[RAM_BYTES / 4];

/* WHAT LITTLEFS ASKS OF A DEVICE */

static int lfs_result(int result)
{
    if (result >= 0) {
        return LFS_ERR_OK;
    }
    /* A sector that is lost: littlefs takes another block for it, or tells. */
    return result == NW_ERR_ECC || result == NW_ERR_CORRUPT ? LFS_ERR_CORRUPT : LFS_ERR_IO;
}

static struct nw_block_req request(lfs_block_t block, lfs_off_t off, void *data, lfs_size_t size)
{
    return (struct nw_block_req){
        .block = &ftl.block,
        .sector = block * FILE_BLOCK_SECTORS + off / SECTOR_BYTES,
        .count = size / SECTOR_BYTES,
        .data = data,
    };
}

static int disk_read(const struct lfs_config *config, lfs_block_t block, lfs_off_t off,
                     void *buffer, lfs_size_t size)
{
    struct nw_block_req req = request(block, off, buffer, size);

    (void)config;
    return lfs_result(nw_block_read(&req));
}

static int disk_prog(const struct lfs_config *config, lfs_block_t block, lfs_off_t off,
                     const void *buffer, lfs_size_t size)
{
    struct nw_block_req req = request(block, off, (void *)(uintptr_t)buffer, size);

    (void)config;
    return lfs_result(nw_block_write(&req)); /* never written through: nandwich/block.h */
}

/* Sectors need no erase before they are written; but what was there is no longer needed, and a
 * layer that knows has less to move. */
static int disk_erase(const struct lfs_config *config, lfs_block_t block)
{
    struct nw_block_req req = request(block, 0, NULL, SECTOR_BYTES * FILE_BLOCK_SECTORS);

    (void)config;
    return lfs_result(nw_block_trim(&req));
}

static int disk_sync(const struct lfs_config *config)
{
    struct nw_block_req req = {.block = &ftl.block, .count = 1};

    (void)config;
    return lfs_result(nw_block_sync(&req));
}

static uint32_t read_cache[SECTOR_BYTES / 4], write_cache[SECTOR_BYTES / 4];
static uint32_t file_cache[SECTOR_BYTES / 4], lookahead[32];
static struct lfs_config disk = {
    .read = disk_read,
    .prog = disk_prog,
    .erase = disk_erase,
    .sync = disk_sync,
    .read_size = SECTOR_BYTES,
    .prog_size = SECTOR_BYTES,
    .block_size = SECTOR_BYTES * FILE_BLOCK_SECTORS,
    .block_cycles = -1, /* the layer below spreads writes */
    .cache_size = SECTOR_BYTES,
    .lookahead_size = sizeof lookahead,
    .read_buffer = read_cache,
    .prog_buffer = write_cache,
    .lookahead_buffer = lookahead,
};
static const struct lfs_file_config file_config = {.buffer = file_cache};
static lfs_t lfs;
static lfs_file_t file; /* one at a time: they share a cache */

/* THE EXAMPLE */

static void open_layer(int format)
{
    size_t needed;
    int result = nw_spi_nand_open(&nand, &board_spi, NULL);

    if (result == NW_OK) {
        result = nw_slice_open(&slice, &nand.chip, 0, BLOCKS);
    }
    if (result < 0) {
        board_fail("flash", result);
    }
    needed = nw_ftl_tree_ram_bytes(&ftl_config, &slice.chip.geometry);
    board_say_line("ram", (int32_t)needed);
    if (needed == 0 || needed > sizeof ram || slice.chip.geometry.page_bytes != SECTOR_BYTES) {
        board_fail("RAM_BYTES is not enough, or another page size", (int)sizeof ram);
    }
    result = format ? nw_ftl_tree_format(&ftl, &slice.chip, &ftl_config, ram, sizeof ram)
                    : nw_ftl_tree_mount(&ftl, &slice.chip, &ftl_config, ram, sizeof ram);
    if (result == NW_ERR_BLANK || result == NW_ERR_NOT_FOUND) {
        board_fail("no device here; send f at the start to format", result);
    }
    if (result < 0) {
        board_fail("layer", result);
    }
    disk.block_count = ftl.block.sectors / FILE_BLOCK_SECTORS;
}

static void open_files(int format)
{
    int result = format ? lfs_format(&lfs, &disk) : LFS_ERR_OK;

    if (result == LFS_ERR_OK) {
        result = lfs_mount(&lfs, &disk);
    }
    if (result == LFS_ERR_CORRUPT) {
        board_fail("no file system here; send f at the start to format", result);
    }
    if (result != LFS_ERR_OK) {
        board_fail("mount", result);
    }
}

static void check(const char *what, int result)
{
    if (result < 0) {
        board_fail(what, result);
    }
}

/* One more start: the file is replaced at its close, whole. */
static void count_start(void)
{
    uint32_t starts = 0;

    check("starts", lfs_file_opencfg(&lfs, &file, "starts", LFS_O_RDWR | LFS_O_CREAT,
                                     &file_config));
    check("starts", (int)lfs_file_read(&lfs, &file, &starts, sizeof starts));
    starts++;
    check("starts", (int)lfs_file_rewind(&lfs, &file));
    check("starts", (int)lfs_file_write(&lfs, &file, &starts, sizeof starts));
    check("starts", lfs_file_close(&lfs, &file));
    board_say_line("starts", (int32_t)starts);
}

static void put_digits(char *to, uint32_t digits, uint32_t number)
{
    while (digits > 0) {
        to[--digits] = (char)('0' + number % 10U);
        number /= 10U;
    }
}

/* LINE_BYTES of text: the line's number and the sensor's value. */
static void make_line(char *line, uint32_t number, uint16_t value)
{
    put_digits(line, 9, number);
    line[9] = ' ';
    put_digits(line + 10, 5, value);
    line[LINE_BYTES - 1U] = '\n';
}

static void show_log(void)
{
    char line[LINE_BYTES + 1U] = {0};

    check("log", (int)lfs_file_rewind(&lfs, &file));
    while (lfs_file_read(&lfs, &file, line, LINE_BYTES) == (lfs_ssize_t)LINE_BYTES) {
        board_say(line);
        board_alive();
    }
    board_say("end\n");
}

/* Opens the log and answers how many lines it has. A file is only ever as long as it was at a sync,
 * so there is no half line. */
static uint32_t open_log(void)
{
    lfs_soff_t length;

    check("log", lfs_file_opencfg(&lfs, &file, "log", LFS_O_RDWR | LFS_O_CREAT | LFS_O_APPEND,
                                  &file_config));
    length = lfs_file_size(&lfs, &file);
    check("log", (int)length);
    return (uint32_t)length / LINE_BYTES;
}

int main(void)
{
    char line[LINE_BYTES];
    uint32_t lines, due;
    int format;

    board_open();
    board_say("blockdev\n");
    format = board_heard_first('f');
    open_layer(format);
    open_files(format);
    count_start();
    lines = open_log();
    board_say_line("found", (int32_t)lines);
    board_watch(4000); /* a sync may compact some blocks of littlefs: some 0.1 s each */
    due = board_ms();
    for (;;) {
        struct nw_block_req spare = {.block = &ftl.block, .count = 1, .budget_us = 10000};

        if ((int32_t)(board_ms() - due) >= 0) {
            make_line(line, lines, board_sample());
            check("write", (int)lfs_file_write(&lfs, &file, line, sizeof line));
            check("sync", lfs_file_sync(&lfs, &file));
            board_say_line("kept", (int32_t)++lines);
            due += LINE_MS;
            board_alive();
        } else if (nw_block_idle(&spare) <= 0) { /* cleaning ahead */
            board_sleep();
        }
        if (board_heard() == 'd') {
            show_log();
        }
    }
}
