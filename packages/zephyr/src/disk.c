/* SPDX-License-Identifier: Apache-2.0 */
/* Zephyr's disk operations over the block contract. */
#include <errno.h>

#include <nandwich-zephyr/disk.h>

static int to_errno(struct nw_zephyr_disk *disk, int result)
{
    if (result >= 0) {
        return 0;
    }
    disk->error = result;
    switch (result) {
    case NW_ERR_RANGE:
        return -EINVAL;
    case NW_ERR_FULL:
        return -ENOSPC;
    case NW_ERR_BUSY:
        return -EBUSY;
    default:
        return -EIO;
    }
}

static struct nw_zephyr_disk *disk_of(struct disk_info *info)
{
    return CONTAINER_OF(info, struct nw_zephyr_disk, info);
}

/* One verb with the layer to itself. */
static int call(struct disk_info *info, int (*verb)(struct nw_block_req *req), uint8_t *data,
                uint32_t sector, uint32_t count)
{
    struct nw_zephyr_disk *disk = disk_of(info);
    struct nw_block_req req = {.block = disk->block, .sector = sector, .count = count};
    int result;

    req.data = data;
    nw_zephyr_disk_lock(disk);
    result = to_errno(disk, verb(&req));
    nw_zephyr_disk_unlock(disk);
    return result;
}

static int disk_init(struct disk_info *info)
{
    (void)info; /* the layer is mounted before it is registered */
    return 0;
}

static int disk_status(struct disk_info *info)
{
    (void)info;
    return DISK_STATUS_OK;
}

static int disk_read(struct disk_info *info, uint8_t *data, uint32_t sector, uint32_t count)
{
    return call(info, nw_block_read, data, sector, count);
}

static int disk_write(struct disk_info *info, const uint8_t *data, uint32_t sector, uint32_t count)
{
    /* A write never writes through its pointer: block.h. */
    return call(info, nw_block_write, (uint8_t *)(uintptr_t)data, sector, count);
}

static int disk_ioctl(struct disk_info *info, uint8_t command, void *buffer)
{
    struct nw_block *block = disk_of(info)->block;

    switch (command) {
    case DISK_IOCTL_GET_SECTOR_COUNT:
        *(uint32_t *)buffer = block->sectors;
        return 0;
    case DISK_IOCTL_GET_SECTOR_SIZE:
        *(uint32_t *)buffer = block->sector_bytes;
        return 0;
    case DISK_IOCTL_GET_ERASE_BLOCK_SZ:
        *(uint32_t *)buffer = 1U; /* sectors: each is rewritten alone */
        return 0;
    case DISK_IOCTL_CTRL_SYNC:
        return call(info, nw_block_sync, NULL, 0, 0);
#ifdef DISK_IOCTL_CTRL_DEINIT /* since Zephyr 3.7 */
    case DISK_IOCTL_CTRL_INIT:
        return 0;
    case DISK_IOCTL_CTRL_DEINIT:
        return call(info, nw_block_sync, NULL, 0, 0);
#endif
    default:
        return -EINVAL;
    }
}

static const struct disk_operations operations = {
    .init = disk_init,
    .status = disk_status,
    .read = disk_read,
    .write = disk_write,
    .ioctl = disk_ioctl,
};

int nw_zephyr_disk_register(struct nw_zephyr_disk *disk, const char *name, struct nw_block *block)
{
    disk->block = block;
    disk->error = NW_OK;
    disk->info.name = (char *)(uintptr_t)name; /* const since Zephyr 3.5 */
    disk->info.ops = &operations;
    k_mutex_init(&disk->mutex);
    return disk_access_register(&disk->info);
}

void nw_zephyr_disk_lock(struct nw_zephyr_disk *disk)
{
    (void)k_mutex_lock(&disk->mutex, K_FOREVER);
}

void nw_zephyr_disk_unlock(struct nw_zephyr_disk *disk)
{
    (void)k_mutex_unlock(&disk->mutex);
}
