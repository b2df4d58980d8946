/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync.c - locks of POSIX and C11 in a program that has no threads: it is linked with a library
 * made for them, or shares sources with a program that has some. A lock in virtual memory is worked
 * on as a plain copy; nobody else looks at it meanwhile. Who starts a thread is refused when
 * compiled.
 */
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

/* A call whose one pointer is the lock. */
#define NW_LOCK(shape, name) NW_BY_COPY(int, name, (shape * at), shape, at, name(&own))
/* Likewise with attributes, which may be NULL. */
#define NW_LOCK_INIT(shape, name, attributes)                                                      \
    NW_LIBC(int, name, (shape * to, const attributes *from))                                       \
    {                                                                                              \
        attributes how;                                                                            \
        shape own;                                                                                 \
        int result = name(&own, nw_guest_get_or_null(&how, from, sizeof how));                     \
                                                                                                   \
        if (result == 0) {                                                                         \
            nw_guest_put(to, &own, sizeof own);                                                    \
        }                                                                                          \
        return result;                                                                             \
    }
/* A call that takes a plain value beside the object. */
#define NW_LOCK_SET(shape, name, type)                                                             \
    NW_BY_COPY(int, name, (shape * at, type value), shape, at, name(&own, value))
/* A call that may wait until a time. */
#define NW_LOCK_TIMED(shape, name)                                                                 \
    NW_LIBC(int, name, (shape * at, const struct timespec *until))                                 \
    {                                                                                              \
        struct timespec time;                                                                      \
        shape own;                                                                                 \
                                                                                                   \
        nw_guest_get(&own, at, sizeof own);                                                        \
        nw_guest_get(&time, until, sizeof time);                                                   \
        int result = name(&own, &time);                                                            \
        nw_guest_put(at, &own, sizeof own);                                                        \
        return result;                                                                             \
    }

NW_LOCK_INIT(pthread_mutex_t, pthread_mutex_init, pthread_mutexattr_t)
NW_LOCK(pthread_mutex_t, pthread_mutex_destroy)
NW_LOCK(pthread_mutex_t, pthread_mutex_lock)
NW_LOCK(pthread_mutex_t, pthread_mutex_trylock)
NW_LOCK(pthread_mutex_t, pthread_mutex_unlock)
NW_LOCK_TIMED(pthread_mutex_t, pthread_mutex_timedlock)
NW_LOCK(pthread_mutexattr_t, pthread_mutexattr_init)
NW_LOCK(pthread_mutexattr_t, pthread_mutexattr_destroy)
NW_LOCK_SET(pthread_mutexattr_t, pthread_mutexattr_settype, int)
NW_LOCK_SET(pthread_mutexattr_t, pthread_mutexattr_setpshared, int)

NW_LOCK_INIT(pthread_rwlock_t, pthread_rwlock_init, pthread_rwlockattr_t)
NW_LOCK(pthread_rwlock_t, pthread_rwlock_destroy)
NW_LOCK(pthread_rwlock_t, pthread_rwlock_rdlock)
NW_LOCK(pthread_rwlock_t, pthread_rwlock_wrlock)
NW_LOCK(pthread_rwlock_t, pthread_rwlock_tryrdlock)
NW_LOCK(pthread_rwlock_t, pthread_rwlock_trywrlock)
NW_LOCK(pthread_rwlock_t, pthread_rwlock_unlock)

NW_LOCK_INIT(pthread_cond_t, pthread_cond_init, pthread_condattr_t)
NW_LOCK(pthread_cond_t, pthread_cond_destroy)
NW_LOCK(pthread_cond_t, pthread_cond_signal)
NW_LOCK(pthread_cond_t, pthread_cond_broadcast)

NW_LIBC(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *lock))
{
    (void)condition;
    (void)lock;
    nw_guest_refuse("pthread_cond_wait: no other thread could ever wake the program");
}

NW_LIBC(int, pthread_cond_timedwait,
        (pthread_cond_t * condition, pthread_mutex_t *lock, const struct timespec *until))
{
    pthread_cond_t own;
    pthread_mutex_t mutex;
    struct timespec time;

    nw_guest_get(&own, condition, sizeof own);
    nw_guest_get(&mutex, lock, sizeof mutex);
    nw_guest_get(&time, until, sizeof time);
    int result = pthread_cond_timedwait(&own, &mutex, &time);
    nw_guest_put(condition, &own, sizeof own);
    nw_guest_put(lock, &mutex, sizeof mutex);
    return result;
}

#define NW_SPIN(name)                                                                              \
    NW_LIBC(int, name, (pthread_spinlock_t * at))                                                  \
    {                                                                                              \
        pthread_spinlock_t own;                                                                    \
                                                                                                   \
        nw_guest_get((void *)(uintptr_t)&own, (const void *)(uintptr_t)at, sizeof own);            \
        int result = name(&own);                                                                   \
        nw_guest_put((void *)(uintptr_t)at, (const void *)(uintptr_t)&own, sizeof own);            \
        return result;                                                                             \
    }

NW_SPIN(pthread_spin_destroy)
NW_SPIN(pthread_spin_lock)
NW_SPIN(pthread_spin_trylock)
NW_SPIN(pthread_spin_unlock)

NW_LIBC(int, pthread_spin_init, (pthread_spinlock_t * to, int shared))
{
    pthread_spinlock_t own;
    int result = pthread_spin_init(&own, shared);

    nw_guest_put((void *)(uintptr_t)to, (const void *)(uintptr_t)&own, sizeof own);
    return result;
}

/* The routine may use the same object: what it leaves there is kept. */
static void call_once_at(void *control, void (*routine)(void))
{
    int state;

    nw_guest_get(&state, control, sizeof state);
    if (state == 0) {
        state = 2; /* done, as the library has it */
        nw_guest_put(control, &state, sizeof state);
        routine();
    }
}

NW_LIBC(int, pthread_once, (pthread_once_t * control, void (*routine)(void)))
{
    call_once_at(control, routine);
    return 0;
}

NW_LIBC(void, call_once, (once_flag * control, void (*routine)(void)))
{
    call_once_at(control, routine);
}

NW_LIBC(int, pthread_key_create, (pthread_key_t * to, void (*destroy)(void *)))
{
    pthread_key_t own;
    int result = pthread_key_create(&own, destroy);

    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}

NW_LIBC(int, tss_create, (tss_t * to, void (*destroy)(void *)))
{
    tss_t own;
    int result = tss_create(&own, destroy);

    if (result == thrd_success) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}

NW_BY_COPY(int, sem_init, (sem_t * at, int shared, unsigned value), sem_t, at,
           sem_init(&own, shared, value))
NW_LOCK(sem_t, sem_destroy)
NW_LOCK(sem_t, sem_wait)
NW_LOCK(sem_t, sem_trywait)
NW_LOCK(sem_t, sem_post)
NW_LOCK_TIMED(sem_t, sem_timedwait)

NW_LIBC(int, sem_getvalue, (sem_t * from, int *to))
{
    sem_t own;
    int value;

    nw_guest_get(&own, from, sizeof own);
    int result = sem_getvalue(&own, &value);
    nw_guest_put(to, &value, sizeof value);
    return result;
}

NW_LOCK_SET(mtx_t, mtx_init, int)
NW_LOCK(mtx_t, mtx_lock)
NW_LOCK(mtx_t, mtx_trylock)
NW_LOCK(mtx_t, mtx_unlock)
NW_LOCK_TIMED(mtx_t, mtx_timedlock)

NW_LIBC(void, mtx_destroy, (mtx_t * at))
{
    mtx_t own;

    nw_guest_get(&own, at, sizeof own);
    mtx_destroy(&own);
}

NW_LOCK(cnd_t, cnd_init)
NW_LOCK(cnd_t, cnd_signal)
NW_LOCK(cnd_t, cnd_broadcast)
