/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what a program in virtual memory runs on: a chip, the layers over it, frames.
 *
 * Text of key=value words. Three sources, later ones win: what `nandwich cc` built in, the file
 * named by NANDWICH_CONFIG (one word a line, '#' starts a comment), and NANDWICH itself (words
 * separated by spaces). Sizes are bytes, or end in K, M or G.
 *
 *   chip=NAME          a part of the twin's table
 *   part.KEY=VALUE     changes one figure of that part; part.name first: begins a part of its own
 *   ftl=NAME           the translation layer, by nandwich-stack/layers.h
 *   degree=8           lavish: physical blocks a lavish block
 *   maps=4             lavish: intra-block maps held in RAM, 0: four; tree: nodes of its map there
 *   ecc=none|secded    a software code between chip and layer
 *   vm=8M              bytes of virtual memory
 *   ram=32K            bytes of frames, and of globals that the program keeps in RAM
 *   scheme=auto|multi-cache|sector-shrink|direct
 *   policy=clock|lru
 *   blocks=0           blocks of the chip given to the virtual memory, from the first; 0: all
 *   spare_blocks=0     blocks that the layer keeps for cleaning and bad blocks; 0: its own choice
 *   seed=1             of the twin: factory bad blocks, bit errors
 *   image=FILE         the chip's content and wear, loaded first if there, saved at the end
 *   record=FILE        what is asked of the translation layer, as an iolog of fio (record.h)
 *   accesses=FILE      every access to virtual memory (accesses.h); built with -nw-trace only
 *   timeline=FILE      what happened when, for ui.perfetto.dev (nandwich-twin/timeline.h)
 *   timeline_window=requests:0:10000   what of it is shown whole; or ns:FIRST:END
 *   stats=FILE         a report as JSON at the end, also after a crash
 *   timing=1           measures the host time spent emulating the chip (costs some itself)
 *
 * frame size, slots and statics are compiled into the program and cannot be chosen here.
 */
#ifndef NW_HOST_CONFIG_H
#define NW_HOST_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich-stack/layers.h"

enum nw_host_ecc { NW_HOST_ECC_NONE, NW_HOST_ECC_SECDED };
enum nw_host_scheme { NW_HOST_AUTO, NW_HOST_MULTI_CACHE, NW_HOST_SECTOR_SHRINK, NW_HOST_DIRECT };

enum { NW_HOST_PART_KEYS = 128, NW_HOST_WORD_BYTES = 256, NW_HOST_PATH_BYTES = 4096 };

struct nw_host_config {
    char chip[NW_HOST_WORD_BYTES];
    char image[NW_HOST_PATH_BYTES];
    char record[NW_HOST_PATH_BYTES];
    char accesses[NW_HOST_PATH_BYTES];
    char timeline[NW_HOST_PATH_BYTES];
    char stats[NW_HOST_PATH_BYTES];
    char timeline_window[NW_HOST_WORD_BYTES];
    const struct nw_layer_kind *layer;
    uint32_t ecc, scheme, policy; /* enums above; policy as enum nw_vm_policy */
    uint32_t degree, maps;
    uint32_t vm_bytes, ram_bytes;
    uint32_t blocks, spare_blocks;
    uint32_t seed;
    uint32_t timing;
    uint32_t part_keys; /* entries used below */
    char part_key[NW_HOST_PART_KEYS][2][NW_HOST_WORD_BYTES];
};

/* Every field at the default written above. */
void nw_host_config_defaults(struct nw_host_config *config);

/*
 * Reads words separated by newlines (or, with spaces != 0, by blanks too) into the config. NW_OK,
 * or NW_ERR_CONFIG with one line in `error`: "PLACE:LINE: what is wrong and what is allowed".
 */
int nw_host_config_read(struct nw_host_config *config, const char *text, int spaces,
                        const char *place, char *error, size_t error_bytes);

/* The same from a file; NW_ERR_NOT_FOUND if it cannot be read. */
int nw_host_config_file(struct nw_host_config *config, const char *path, char *error,
                        size_t error_bytes);

/* The word for an enum's value, as the config takes it. */
/* Whether all files that will be written are apart from each other and from the program:
 * NW_ERR_CONFIG. */
int nw_host_config_apart(const struct nw_host_config *config, const char *program, char *error,
                         size_t error_bytes);

const char *nw_host_ecc_name(uint32_t ecc);
const char *nw_host_scheme_name(uint32_t scheme);
const char *nw_host_policy_name(uint32_t policy);

#endif
