/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvm.h - byte-addressable non-volatile memory (PCM, STT-RAM, FRAM): read and write in place, no
 * erase.
 *
 * A write that returned NW_OK survives a power cut. A cut inside a write leaves each aligned unit
 * of atomic_bytes either old or new; units of one write may differ.
 */
#ifndef NANDWICH_NVM_H
#define NANDWICH_NVM_H

#include <stdint.h>

#include "nandwich/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_nvm;

struct nw_nvm_req {
    struct nw_nvm *nvm;
    uint32_t address; /* byte address */
    uint32_t length;  /* bytes */
    uint8_t *data;    /* never written through by write; NULL: moves nothing, of the twin only */
};

struct nw_nvm_ops {
    int (*read)(struct nw_nvm_req *req);
    int (*write)(struct nw_nvm_req *req);
};

struct nw_nvm {
    const struct nw_nvm_ops *ops;
    void *context;
    uint32_t bytes;        /* size */
    uint16_t atomic_bytes; /* unit that a power cut never tears, a power of two */
    uint32_t endurance;    /* rated writes a unit; 0: without practical limit */
};

/* NW_ERR_RANGE outside the memory, else what the part answers. length 0 is NW_OK. */
int nw_nvm_read(struct nw_nvm_req *req);
int nw_nvm_write(struct nw_nvm_req *req);

#ifdef __cplusplus
}
#endif

#endif
