/* SPDX-License-Identifier: Apache-2.0 */
/* The shims of packages/zephyr against stand-ins of the interfaces they are written for: a disk
 * over a block device in RAM, the object store on a partition that is an array, and the driver of
 * serial NAND on a bus of Zephyr with a model of the part. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <nandwich-zephyr/area.h>
#include <nandwich-zephyr/disk.h>
#include <nandwich-zephyr/spi.h>
#include <nandwich/driver_spi_nand.h>
#include <nandwich/store.h>

#include <cmocka.h>

#include "spi_nand_model.h"

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #what);                                      \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

#define SECTORS 8U
#define SECTOR 64U

static uint8_t sectors[SECTORS][SECTOR];
static int syncs, fails;

static int ram_read(struct nw_block_req *req)
{
    memcpy(req->data, sectors[req->sector], (size_t)req->count * SECTOR);
    return fails;
}

static int ram_write(struct nw_block_req *req)
{
    memcpy(sectors[req->sector], req->data, (size_t)req->count * SECTOR);
    return fails;
}

static int ram_sync(struct nw_block_req *req)
{
    (void)req;
    syncs++;
    return fails;
}

static const struct nw_block_ops ram_ops = {.read = ram_read, .write = ram_write, .sync = ram_sync};
static struct nw_block ram_block = {.ops = &ram_ops, .sectors = SECTORS, .sector_bytes = SECTOR};

static struct disk_info *registered;

int disk_access_register(struct disk_info *disk)
{
    registered = disk;
    return 0;
}

static int test_disk(void)
{
    static struct nw_zephyr_disk disk;
    uint8_t data[2 * SECTOR];
    uint32_t told = 0;

    CHECK(nw_zephyr_disk_register(&disk, "NAND", &ram_block) == 0);
    CHECK(registered == &disk.info && strcmp(registered->name, "NAND") == 0);
    CHECK(registered->ops->init(registered) == 0 && registered->ops->status(registered) == 0);
    memset(data, 0x5A, sizeof data);
    CHECK(registered->ops->write(registered, data, 6, 2) == 0);
    CHECK(sectors[7][SECTOR - 1] == 0x5A && sectors[5][0] == 0);
    memset(data, 0, sizeof data);
    CHECK(registered->ops->read(registered, data, 7, 1) == 0 && data[0] == 0x5A);
    CHECK(registered->ops->read(registered, data, 7, 2) == -EINVAL);
    CHECK(disk.error == NW_ERR_RANGE);
    CHECK(registered->ops->ioctl(registered, DISK_IOCTL_GET_SECTOR_COUNT, &told) == 0);
    CHECK(told == SECTORS);
    CHECK(registered->ops->ioctl(registered, DISK_IOCTL_GET_SECTOR_SIZE, &told) == 0);
    CHECK(told == SECTOR);
    CHECK(registered->ops->ioctl(registered, DISK_IOCTL_GET_ERASE_BLOCK_SZ, &told) == 0);
    CHECK(told == 1);
    CHECK(registered->ops->ioctl(registered, DISK_IOCTL_CTRL_SYNC, NULL) == 0 && syncs == 1);
    CHECK(registered->ops->ioctl(registered, DISK_IOCTL_CTRL_INIT, NULL) == 0);
    CHECK(registered->ops->ioctl(registered, DISK_IOCTL_CTRL_DEINIT, NULL) == 0 && syncs == 2);
    CHECK(registered->ops->ioctl(registered, 99, NULL) == -EINVAL);
    fails = NW_ERR_FULL;
    CHECK(registered->ops->write(registered, data, 0, 1) == -ENOSPC);
    fails = NW_ERR_BUSY;
    CHECK(registered->ops->read(registered, data, 0, 1) == -EBUSY);
    fails = NW_ERR_ECC;
    CHECK(registered->ops->ioctl(registered, DISK_IOCTL_CTRL_SYNC, NULL) == -EIO);
    CHECK(disk.error == NW_ERR_ECC && disk.mutex.locked == 0);
    return 0;
}

#define PAGE_BYTES 4096U
#define AREA_BYTES (64U * PAGE_BYTES)
#define AREA_AT 0x20000

static uint8_t flash[AREA_BYTES];
static struct flash_area partition = {.fa_id = 3, .fa_off = AREA_AT, .fa_size = AREA_BYTES};
static size_t odd_page; /* size of the last page; 0: like the others */
static uint32_t write_block = 1;

int flash_area_open(uint8_t id, const struct flash_area **fa)
{
    *fa = id == partition.fa_id ? &partition : NULL;
    return *fa == NULL ? -ENOENT : 0;
}

int flash_area_read(const struct flash_area *fa, off_t off, void *dst, size_t len)
{
    if (off < 0 || (size_t)off + len > fa->fa_size) {
        return -EINVAL;
    }
    memcpy(dst, flash + off, len);
    return 0;
}

int flash_area_write(const struct flash_area *fa, off_t off, const void *src, size_t len)
{
    const uint8_t *from = src;

    if (off < 0 || (size_t)off + len > fa->fa_size || (size_t)off % write_block != 0 ||
        len % write_block != 0) {
        return -EINVAL;
    }
    for (size_t i = 0; i < len; i++) {
        flash[(size_t)off + i] &= from[i];
    }
    return 0;
}

int flash_area_erase(const struct flash_area *fa, off_t off, size_t len)
{
    if (off < 0 || (size_t)off + len > fa->fa_size || (size_t)off % PAGE_BYTES != 0 ||
        len % PAGE_BYTES != 0) {
        return -EINVAL;
    }
    memset(flash + off, 0xFF, len);
    return 0;
}

uint32_t flash_area_align(const struct flash_area *fa)
{
    (void)fa;
    return write_block;
}

uint8_t flash_area_erased_val(const struct flash_area *fa)
{
    (void)fa;
    return 0xFF;
}

const struct device *flash_area_get_device(const struct flash_area *fa)
{
    return fa->fa_dev;
}

int flash_get_page_info_by_offs(const struct device *dev, off_t offset,
                                struct flash_pages_info *info)
{
    (void)dev;
    info->start_offset = offset - offset % (off_t)PAGE_BYTES;
    info->size = PAGE_BYTES;
    if (odd_page != 0 && offset >= AREA_AT + (off_t)AREA_BYTES - (off_t)PAGE_BYTES) {
        info->size = odd_page;
    }
    return 0;
}

static int store_on(struct nw_zephyr_area *area)
{
    static uint64_t ram[1024];
    const struct nw_store_config config = {0};
    const struct nw_store_spec spec = {.type = NW_STORE_QUEUE};
    struct nw_store *store;
    char said[8] = "";
    int handle;

    CHECK(nw_store_mount(&store, &area->chip, &config, ram, sizeof ram) == NW_ERR_BLANK);
    CHECK(nw_store_format(&store, &area->chip, &config, ram, sizeof ram) == NW_OK);
    handle = nw_store_create(store, "said", &spec);
    CHECK(handle > 0);
    CHECK(nw_store_push(store, handle, "hello", 6) >= 0 && nw_store_sync(store) == NW_OK);
    CHECK(nw_store_mount(&store, &area->chip, &config, ram, sizeof ram) == NW_OK);
    handle = nw_store_find(store, "said");
    CHECK(nw_store_dequeue(store, handle, said, sizeof said) == 6 && strcmp(said, "hello") == 0);
    return 0;
}

static int test_area(void)
{
    static struct nw_zephyr_area area;
    struct nw_chip_req req = {.chip = &area.chip};

    CHECK(nw_zephyr_area_open(&area, 4, 256) == NW_ERR_NOT_FOUND && area.error == -ENOENT);
    CHECK(nw_zephyr_area_open(&area, 3, 0) == NW_ERR_CONFIG);
    CHECK(nw_zephyr_area_open(&area, 3, 300) == NW_ERR_CONFIG);
    odd_page = 1024;
    CHECK(nw_zephyr_area_open(&area, 3, 256) == NW_ERR_CONFIG);
    odd_page = 0;
    for (write_block = 1; write_block <= 8; write_block *= 8) {
        memset(flash, 0xFF, sizeof flash);
        CHECK(nw_zephyr_area_open(&area, 3, 256) == NW_OK);
        CHECK(area.chip.geometry.blocks == 64 && area.chip.geometry.block_pages == 16);
        CHECK(area.chip.geometry.program_bytes == write_block);
        CHECK(area.chip.geometry.page_programs == (write_block == 1 ? 255 : 32));
        CHECK(store_on(&area) == 0);
    }
    CHECK(nw_chip_is_bad(&req) == 0 && nw_chip_mark_bad(&req) == NW_ERR_UNSUPPORTED);
    return 0;
}

static struct spi_nand_model model;
static int bus_fails;
static bool bus_ready;

int spi_transceive_dt(const struct spi_dt_spec *spec, const struct spi_buf_set *tx_bufs,
                      const struct spi_buf_set *rx_bufs)
{
    struct nw_spi *spi = &model.spi.spi;
    int result = bus_fails;

    (void)spec;
    if (result != 0 || tx_bufs->count != rx_bufs->count) {
        return result != 0 ? result : -EINVAL;
    }
    (void)spi->ops->select(spi, 1);
    for (size_t i = 0; i < tx_bufs->count; i++) {
        uint16_t length = (uint16_t)tx_bufs->buffers[i].len;

        if (length != rx_bufs->buffers[i].len) {
            result = -EINVAL;
        }
        (void)spi->ops->transfer(spi, tx_bufs->buffers[i].buf, rx_bufs->buffers[i].buf, length);
    }
    (void)spi->ops->select(spi, 0);
    return result;
}

bool spi_is_ready_dt(const struct spi_dt_spec *spec)
{
    (void)spec;
    return bus_ready;
}

void k_busy_wait(uint32_t usec_to_wait)
{
    (void)model.spi.spi.ops->wait(&model.spi.spi, (uint16_t)usec_to_wait);
}

int32_t k_usleep(int32_t us)
{
    int32_t slept = us > 150 ? 150 : us; /* somebody always wakes the thread early */

    k_busy_wait((uint32_t)slept);
    return us - slept;
}

static int test_spi(void)
{
    static const struct spi_nand_kind kind = {{0xEF, 0xAA, 0x21}, 1, 1, 2, 1, 1024, 0};
    static const struct spi_dt_spec wire = {.config = {.frequency = 20000000}};
    static struct nw_zephyr_spi bus;
    static struct nw_spi_nand nand;
    static uint8_t data[2048], back[2048];
    struct nw_chip_req req = {.chip = &nand.chip, .block = 5, .page = 5 * 64, .length = 2048};

    spi_nand_model_open(&model, &kind, 3);
    CHECK(nw_zephyr_spi_open(&bus, &wire) == NW_ERR_NOT_FOUND);
    bus_ready = true;
    CHECK(nw_zephyr_spi_open(&bus, &wire) == NW_OK && bus.spi.khz == 20000);
    CHECK(nw_spi_nand_open(&nand, &bus.spi, NULL) == NW_OK);
    memset(data, 0x3C, sizeof data);
    req.data = data;
    CHECK(nw_chip_erase(&req) == NW_OK && nw_chip_program(&req) == NW_OK);
    req.data = back;
    CHECK(nw_chip_read(&req) == 0 && memcmp(back, data, sizeof data) == 0);
    CHECK(model.spi.bus.violations == 0);
    bus_fails = -ETIMEDOUT;
    CHECK(nw_chip_read(&req) == NW_ERR_IO && bus.error == -ETIMEDOUT);
    spi_nand_model_close(&model);
    return 0;
}

int main(void)
{
    return test_disk() != 0 || test_area() != 0 || test_spi() != 0;
}
