/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_check.h - looks whether all that a store says is there can be found. For tests, for tools
 * and for hunting memory that was overwritten: a store needs it at no time.
 */
#ifndef NANDWICH_STORE_CHECK_H
#define NANDWICH_STORE_CHECK_H

#include "nandwich/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a check ended. */
struct nw_store_fault {
    uint32_t key;        /* of the element, value or block; UINT32_MAX: it is the object's books */
    uint8_t slot;        /* the object, as handles number it: handle & 127; 0: none */
    uint8_t checkpoint;  /* 0: the object as it is; else the checkpoint's place, 1 .. 3 */
};

/*
 * Of a store that is mounted, between two calls: every object, as it is and in each checkpoint.
 * Each element, value and block of a file is found by the index, its chunk says that it is this
 * one, and it lies in a block that nothing may erase. What they take together is no more than what
 * is counted for the object, for nw_store_space() builds on that.
 * NW_OK; NW_ERR_CORRUPT or NW_ERR_TAMPERED, with the place in *fault: one of these does not hold,
 * or the flash was damaged there; or the chip's error. Payloads are not read: nw_store_peek() and
 * its like do that.
 * Cost: as finding every element, 1 to 2 reads each; as with any reading, a node that has no frame
 * may have another one written.
 */
int nw_store_check(struct nw_store *store, struct nw_store_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
