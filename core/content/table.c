/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where volumes lie: MBR with four partitions, or GPT, both in sectors of 512 bytes. A space
 * without a table is one volume.
 */
#include <string.h>

#include "inside.h"

#define SECTOR 512U
#define MBR_ENTRIES 446U
#define MBR_ENTRY 16U
#define MBR_COUNT 4U
#define MBR_PROTECTIVE 0xEEU /* a GPT follows */
#define GPT_HEADER_AT 512U
#define GPT_MOST 1024U /* entries */

static const uint8_t gpt_magic[8] = {'E', 'F', 'I', ' ', 'P', 'A', 'R', 'T'};

/* The volume of a table's entry, from 1; 0: the whole space. NULL: none. */
static struct nw_content_volume *volume_of(struct nw_content *content, uint8_t space,
                                           uint16_t entry)
{
    for (uint16_t i = 0; i <= content->config.volumes; i++) {
        struct nw_content_volume *volume = &content->volume[i];

        if (volume->used && volume->space == space && volume->entry == entry) {
            return volume;
        }
    }
    return NULL;
}

static void drop(struct nw_content *content, struct nw_content_volume *volume)
{
    nw_content_volume_clear(content, volume);
    volume->used = 0;
}

/* An entry says where its volume lies; bytes 0: it has none. */
static void set_volume(struct nw_content *content, uint8_t space, uint16_t entry, uint64_t start,
                       uint64_t bytes)
{
    struct nw_content_volume *volume = volume_of(content, space, entry);

    if (volume != NULL && volume->start == start && bytes > 0) {
        volume->bytes = bytes;
        return;
    }
    if (volume != NULL) {
        drop(content, volume);
    }
    if (bytes == 0 || start >= content->space[space].bytes) {
        return;
    }
    for (uint16_t i = 0; i <= content->config.volumes; i++) {
        volume = &content->volume[i];
        if (!volume->used) {
            volume->used = 1;
            volume->seen = 0;
            volume->space = space;
            volume->entry = entry;
            volume->start = start;
            volume->bytes = bytes;
            return;
        }
    }
    content->refused++;
}

static void drop_entries(struct nw_content *content, uint8_t space, uint16_t from)
{
    for (uint16_t i = 0; i <= content->config.volumes; i++) {
        struct nw_content_volume *volume = &content->volume[i];

        if (volume->used && volume->space == space && volume->entry >= from) {
            drop(content, volume);
        }
    }
}

void nw_content_space_open(struct nw_content *content, uint8_t space, uint64_t bytes)
{
    struct nw_content_space *of = &content->space[space];

    drop_entries(content, space, 0);
    memset(of, 0, sizeof *of);
    of->bytes = bytes;
    if (bytes > 0) {
        set_volume(content, space, 0, 0, bytes);
    }
}

static void see_mbr(struct nw_content *content, uint8_t space, const uint8_t *data)
{
    struct nw_content_space *of = &content->space[space];
    int parts = 0;
    int logical = 0;

    of->seen = 1;
    if (data[510] == 0x55U && data[511] == 0xAAU) {
        for (uint32_t i = 0; i < MBR_COUNT; i++) {
            const uint8_t *entry = data + MBR_ENTRIES + i * MBR_ENTRY;

            if ((entry[0] & 0x7FU) != 0) { /* no partition table but a boot sector's code */
                parts = 0;
                break;
            }
            logical |= entry[4] == 0x05U || entry[4] == 0x0FU || entry[4] == 0x85U;
            parts += entry[4] != 0 && nw_get32(entry + 12) != 0;
        }
    }
    of->divided = parts > 0;
    if (parts == 0) {
        of->table_bytes = 0;
        drop_entries(content, space, 1);
        return;
    }
    if (logical) {
        content->unknown |= 1U << NW_CONTENT_LOGICAL;
    }
    if (data[MBR_ENTRIES + 4U] == MBR_PROTECTIVE) {
        return;
    }
    of->table_bytes = 0;
    drop_entries(content, space, MBR_COUNT + 1U);
    for (uint16_t i = 0; i < MBR_COUNT; i++) {
        const uint8_t *entry = data + MBR_ENTRIES + i * MBR_ENTRY;
        uint64_t sectors = entry[4] == 0 ? 0 : nw_get32(entry + 12);

        set_volume(content, space, (uint16_t)(i + 1U), (uint64_t)nw_get32(entry + 8) * SECTOR,
                   sectors * SECTOR);
    }
}

static void see_gpt_header(struct nw_content *content, uint8_t space, const uint8_t *data)
{
    struct nw_content_space *of = &content->space[space];
    uint64_t at = nw_content_get64(data + 72);
    uint32_t count = nw_get32(data + 80);
    uint32_t entry = nw_get32(data + 84);

    if (!of->divided || memcmp(data, gpt_magic, sizeof gpt_magic) != 0 || entry < 128U ||
        entry > SECTOR || (entry & (entry - 1U)) != 0 || at < 2U || at > of->bytes / SECTOR) {
        return;
    }
    count = count > GPT_MOST ? GPT_MOST : count;
    at *= SECTOR;
    if (at != of->table_at || count * entry != of->table_bytes || of->entry_bytes != entry) {
        drop_entries(content, space, 1);
        of->table_at = at;
        of->table_bytes = count * entry;
        of->entry_bytes = (uint16_t)entry;
        of->table_next = 0;
    }
}

/* A sector of GPT's entries. */
static void see_gpt_entries(struct nw_content *content, uint8_t space, uint32_t from,
                            const uint8_t *data)
{
    const struct nw_content_space *of = &content->space[space];

    for (uint32_t at = 0; at < SECTOR && from + at < of->table_bytes; at += of->entry_bytes) {
        const uint8_t *entry = data + at;
        uint64_t first = nw_content_get64(entry + 32);
        uint64_t last = nw_content_get64(entry + 40);
        uint64_t sectors = 0;

        if (nw_get32(entry) != 0 && first <= last && last < of->bytes / SECTOR) {
            sectors = last - first + 1U;
        }
        set_volume(content, space, (uint16_t)((from + at) / of->entry_bytes + 1U),
                   sectors > 0 ? first * SECTOR : 0, sectors * SECTOR);
    }
}

int nw_content_table_has(const struct nw_content_space *space, uint64_t at)
{
    return space->divided &&
           (at < SECTOR || (space->table_bytes > 0 &&
                            (at < 2U * SECTOR || (at >= space->table_at &&
                                                  at - space->table_at < space->table_bytes))));
}

void nw_content_table_see(struct nw_content *content, uint8_t space, uint64_t at,
                          const uint8_t *data, uint32_t bytes)
{
    struct nw_content_space *of = &content->space[space];

    if (at > GPT_HEADER_AT && (of->table_bytes == 0 || at >= of->table_at + of->table_bytes ||
                               at + bytes <= of->table_at)) {
        return;
    }
    for (uint32_t i = 0; i + SECTOR <= bytes; i += SECTOR) {
        if (at + i == 0) {
            see_mbr(content, space, data);
            if (of->divided && data[MBR_ENTRIES + 4U] == MBR_PROTECTIVE && bytes < 2U * SECTOR) {
                of->seen = 0; /* GPT's header stands behind it */
            }
        } else if (at + i == GPT_HEADER_AT) {
            see_gpt_header(content, space, data + i);
        } else if (of->table_bytes > 0 && at + i >= of->table_at &&
                   at + i - of->table_at < of->table_bytes) {
            see_gpt_entries(content, space, (uint32_t)(at + i - of->table_at), data + i);
        }
    }
}

struct nw_content_volume *nw_content_volume_at(struct nw_content *content, uint8_t space,
                                               uint64_t at)
{
    int divided = content->space[space].divided;

    for (uint16_t i = 0; i <= content->config.volumes; i++) {
        struct nw_content_volume *volume = &content->volume[i];

        if (volume->used && volume->space == space && divided == (volume->entry != 0) &&
            at >= volume->start && at - volume->start < volume->bytes) {
            return volume;
        }
    }
    return NULL;
}
