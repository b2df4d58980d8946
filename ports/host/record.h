/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - a block device in front of a block device that writes down what is asked of it, as an
 * iolog of fio (version 2), which `nandwich replay` plays on other layers and chips.
 */
#ifndef NW_HOST_RECORD_H
#define NW_HOST_RECORD_H

#include <stdio.h>

#include "nandwich-twin/file.h"
#include "nandwich/block.h"

struct nw_host_record {
    struct nw_block block; /* give &record.block to the layer above */
    struct nw_block *below;
    struct nw_replace replace; /* the file appears when it is whole */
    FILE *file;                /* NULL: not open */
};

/* Begins a new file. NW_OK, or NW_ERR_IO when it cannot be written (errno tells why). */
int nw_host_record_open(struct nw_host_record *record, struct nw_block *below, const char *path);

/* Ends the file, which takes the place of the old one. NW_OK, or NW_ERR_IO when not all of it could
 * be written: then the old one is still there, and errno tells why. Nothing if not open. */
int nw_host_record_close(struct nw_host_record *record);

#endif
