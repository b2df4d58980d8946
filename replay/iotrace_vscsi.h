/* SPDX-License-Identifier: Apache-2.0 */
/* iotrace_vscsi.h - records of VMware's vSCSI tracing (vscsiStats), versions 1 and 2. */
#ifndef NW_REPLAY_IOTRACE_VSCSI_H
#define NW_REPLAY_IOTRACE_VSCSI_H

#include <stdint.h>

#include "nandwich-replay/io.h"

/* Which version these first bytes of a file are, or 0: neither. */
uint8_t nw_vscsi_version(const uint8_t *bytes, uint32_t count);

/* Bytes of a record of that version. */
uint32_t nw_vscsi_bytes(uint8_t version);

/* One record: 1 a request, 2 one of no bytes, 0 another command, -1 no record of that version. */
int nw_vscsi_parse(const uint8_t *record, uint8_t version, struct nw_io *io);

#endif
