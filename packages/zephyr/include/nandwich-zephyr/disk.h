/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.h - a block device of Nandwich as a disk of Zephyr: FAT, ext2 or USB mass storage stand on
 * it.
 *
 *     static struct nw_zephyr_disk disk;
 *     nw_zephyr_disk_register(&disk, "NAND", &ftl.block);
 *
 * A mutex of its own keeps one call in the layer at a time. Whoever calls the layer beside the disk
 * (idle, say) takes it too: nw_zephyr_disk_lock().
 *
 * Errors of the layer become Zephyr's: NW_ERR_RANGE -EINVAL, NW_ERR_FULL -ENOSPC, NW_ERR_BUSY
 * -EBUSY, all others -EIO; `error` in the struct has the last one as it was.
 */
#ifndef NANDWICH_ZEPHYR_DISK_H
#define NANDWICH_ZEPHYR_DISK_H

#include <zephyr/drivers/disk.h>
#include <zephyr/kernel.h>

#include <nandwich/block.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nw_zephyr_disk {
    struct disk_info info;
    struct nw_block *block;
    struct k_mutex mutex;
    int error; /* the layer's last error; NW_OK: none yet */
};

/* The disk is there from now on, under `name`, which stays the caller's. The layer is mounted
 * already. 0, or what Zephyr answers (-EINVAL: a disk of this name is there). */
int nw_zephyr_disk_register(struct nw_zephyr_disk *disk, const char *name, struct nw_block *block);

/* Between these two the layer is the caller's alone. */
void nw_zephyr_disk_lock(struct nw_zephyr_disk *disk);
void nw_zephyr_disk_unlock(struct nw_zephyr_disk *disk);

#ifdef __cplusplus
}
#endif

#endif
