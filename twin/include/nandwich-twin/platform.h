/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform.h - the processors and radios around the storage: what they draw awake and asleep, for
 * the energy of a node over a duty cycle. Described and sourced like parts (fields.h, parts.h).
 */
#ifndef NANDWICH_TWIN_PLATFORM_H
#define NANDWICH_TWIN_PLATFORM_H

#include "nandwich-twin/fields.h"
#include "nandwich-twin/parts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nw_platform_kind { NW_PLATFORM_NODE, NW_PLATFORM_RADIO };

struct nw_platform {
    char name[NW_PART_NAME_BYTES];
    char note[NW_PART_NOTE_BYTES];
    uint8_t kind;         /* enum nw_platform_kind */
    uint32_t supply_mv;
    uint64_t sleep_na;    /* asleep, memory kept; a radio: off */

    /* a node: processor and board, without radio and storage */
    uint32_t clock_hz;
    uint32_t ram_bytes;
    uint64_t active_na;

    /* a radio */
    uint32_t bit_rate;    /* bits a second on the air */
    uint64_t send_na;
    uint64_t receive_na;
    uint64_t send_byte_pj;    /* measured energy of a byte sent; 0: unknown */
    uint64_t receive_byte_pj;
    uint64_t packet_bytes;    /* a packet whose cost was measured; 0: none */
    uint64_t packet_pj;
    uint64_t packet_ns;
};

const struct nw_field *nw_platform_fields(size_t *count);

uint32_t nw_platforms_count(void);
const struct nw_part_entry *nw_platforms_at(uint32_t index);

/* The place of a platform or radio by its name, in any letter case; NW_ERR_NOT_FOUND. */
int nw_platforms_find(const char *name);
int nw_platforms_get(const char *name, struct nw_platform *platform);

/* Energy of `ns` at a current and this platform's supply, rounded down to whole picojoules. */
uint64_t nw_platform_pj(const struct nw_platform *platform, uint64_t current_na, uint64_t ns);

#ifdef __cplusplus
}
#endif

#endif
