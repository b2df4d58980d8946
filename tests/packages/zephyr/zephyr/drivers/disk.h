/* SPDX-License-Identifier: Apache-2.0 */
/* Zephyr's disk driver interface, as its API reference tells it. */
#ifndef STUB_ZEPHYR_DISK_H
#define STUB_ZEPHYR_DISK_H

#include <stdint.h>

#define DISK_IOCTL_GET_SECTOR_COUNT 1
#define DISK_IOCTL_GET_SECTOR_SIZE 2
#define DISK_IOCTL_GET_ERASE_BLOCK_SZ 4
#define DISK_IOCTL_CTRL_SYNC 5
#define DISK_IOCTL_CTRL_INIT 6
#define DISK_IOCTL_CTRL_DEINIT 7
#define DISK_STATUS_OK 0x00

struct disk_info;

struct disk_operations {
    int (*init)(struct disk_info *disk);
    int (*status)(struct disk_info *disk);
    int (*read)(struct disk_info *disk, uint8_t *data_buf, uint32_t start_sector,
                uint32_t num_sector);
    int (*write)(struct disk_info *disk, const uint8_t *data_buf, uint32_t start_sector,
                 uint32_t num_sector);
    int (*ioctl)(struct disk_info *disk, uint8_t cmd, void *buff);
};

struct disk_info {
    const char *name;
    const struct disk_operations *ops;
    const struct device *dev;
};

int disk_access_register(struct disk_info *disk);

#endif
