/* SPDX-License-Identifier: Apache-2.0 */
/* The little of Zephyr's kernel that our shims call, as its API reference tells it: a mutex that
 * notices being locked twice, as one thread alone runs here. */
#ifndef STUB_ZEPHYR_KERNEL_H
#define STUB_ZEPHYR_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define CONTAINER_OF(ptr, type, field) ((type *)(void *)((char *)(ptr) - offsetof(type, field)))
#define K_FOREVER (-1)

int32_t k_usleep(int32_t us);
void k_busy_wait(uint32_t usec_to_wait);

struct k_mutex {
    int locked;
};

static inline int k_mutex_init(struct k_mutex *mutex)
{
    mutex->locked = 0;
    return 0;
}

static inline int k_mutex_lock(struct k_mutex *mutex, int timeout)
{
    if (timeout != K_FOREVER || mutex->locked++ != 0) {
        abort();
    }
    return 0;
}

static inline int k_mutex_unlock(struct k_mutex *mutex)
{
    if (mutex->locked-- != 1) {
        abort();
    }
    return 0;
}

#endif
