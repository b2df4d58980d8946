/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - the bytes of a file, unpacked on the way when its first bytes say gzip or zstd. */
#ifndef NW_REPLAY_INPUT_H
#define NW_REPLAY_INPUT_H

#include <stdint.h>

enum nw_packing { NW_PLAIN, NW_GZIP, NW_ZSTD };

struct nw_input;

/* NW_ERR_IO: errno tells; NW_ERR_RAM. */
int nw_input_open(struct nw_input **input, const char *path);
void nw_input_close(struct nw_input *input); /* NULL is fine */

/* At most `room` bytes: how many, 0 at the end; NW_ERR_IO, NW_ERR_CORRUPT: packed data is damaged
 * or ends early. */
int nw_input_read(struct nw_input *input, uint8_t *to, uint32_t room);

int nw_input_rewind(struct nw_input *input); /* NW_OK or NW_ERR_IO */
enum nw_packing nw_input_packing(const struct nw_input *input);

#endif
