/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is worth reading. Every table has a cursor: what lies before it was looked at. A cursor
 * moves on only when what it asked for was shown, wherever that then turned out to belong; so a
 * disk whose tables lie is asked about no more often than an honest one.
 */
#include "inside.h"

#define ASK_MOST 65536UL
#define SECTOR 512U
#define HOLE 4096U /* of a guest's disk, at a time */
#define ENTRY 8U /* bytes of one in L1 */

enum {
    ASK_NOTHING,
    ASK_TABLE,
    ASK_GPT,
    ASK_SUPER,
    ASK_DESCRIPTORS,
    ASK_JOURNAL,
    ASK_PROBE,
    ASK_SCAN,
    ASK_NODE,
    ASK_HEADER,
    ASK_L1,
    ASK_L2,
    ASK_COUNTS
};

/* The file's byte on the disk, with as many bytes as follow it there; 0: it is a hole. */
static int locate_file(const struct nw_content *content, const struct nw_content_image *image,
                       uint64_t file_at, uint64_t *at, uint32_t *bytes)
{
    const struct nw_content_volume *volume = &content->volume[image->volume];
    const struct nw_content_extent *extent = NULL;
    uint64_t from = file_at >> volume->shift;

    if (from <= UINT32_MAX) {
        extent = nw_content_file_from(&image->file, (uint32_t)from);
    }
    if (extent == NULL || extent->from > from) {
        return 0;
    }
    uint64_t into = file_at - ((uint64_t)extent->from << volume->shift);
    uint64_t left = ((uint64_t)extent->count << volume->shift) - into;

    *at = volume->start + ((uint64_t)extent->first << volume->shift) + into;
    *bytes = left < *bytes ? (uint32_t)left : *bytes;
    return 1;
}

/* The same for a byte of a space. */
static int locate(const struct nw_content *content, uint8_t space, uint64_t space_at,
                  uint64_t *at, uint32_t *bytes)
{
    *at = space_at;
    if (space > 0) {
        const struct nw_content_image *image = &content->image[space - 1U];
        uint64_t guest = space_at >> image->shift;
        uint32_t cluster = 0;

        if (!image->used || image->shift == 0 || guest > ROLE_MOST) {
            return 0;
        }
        while (cluster < content->config.clusters &&
               image->cluster[cluster] != ROLE_WORD(ROLE_DATA, guest)) {
            cluster++;
        }
        if (cluster == content->config.clusters) {
            return 0;
        }
        uint64_t into = space_at & ((1ULL << image->shift) - 1U);
        uint64_t left = (1ULL << image->shift) - into;

        *bytes = left < *bytes ? (uint32_t)left : *bytes;
        if (!locate_file(content, image, ((uint64_t)cluster << image->shift) + into, at, bytes)) {
            return 0;
        }
    }
    if (*at >= content->config.bytes) {
        return 0;
    }
    if (*bytes > content->config.bytes - *at) {
        *bytes = (uint32_t)(content->config.bytes - *at);
    }
    *bytes &= (uint32_t)~(SECTOR - 1UL);
    return *bytes > 0;
}

/* Moves the cursor of what was asked for on, if it still stands there. */
static void move_image(struct nw_content_image *image, const struct nw_content_asked *asked)
{
    switch (asked->what) {
    case ASK_NODE:
        image->file.unread[asked->place] = 0;
        break;
    case ASK_HEADER:
        image->header_seen = 1;
        break;
    case ASK_L1:
        image->l1_next += image->l1_next == asked->place ? asked->bytes : 0;
        break;
    case ASK_COUNTS:
        image->counts_next += image->counts_next == asked->place ? asked->bytes : 0;
        break;
    default: /* ASK_L2 */
        if (image->l2_next == asked->place && image->shift != 0) {
            image->l2_bytes += asked->bytes;
            if (image->l2_bytes >= (uint32_t)1U << image->shift) {
                image->l2[image->l2_next] &= (uint32_t)~L2_UNREAD;
                image->l2_next++;
                image->l2_bytes = 0;
            }
        }
        break;
    }
}

static void move_on(struct nw_content *content, const struct nw_content_asked *asked)
{
    struct nw_content_volume *volume = &content->volume[asked->object];

    switch (asked->what) {
    case ASK_TABLE:
        content->space[asked->object].seen = 1;
        break;
    case ASK_GPT:
        if (content->space[asked->object].table_next == asked->place) {
            content->space[asked->object].table_next += asked->bytes;
        }
        break;
    case ASK_SUPER:
        volume->seen = 1;
        break;
    case ASK_DESCRIPTORS:
        volume->next += volume->next == asked->place;
        break;
    case ASK_JOURNAL:
        volume->journal.unread[asked->place] = 0;
        break;
    case ASK_PROBE:
        volume->probe = volume->probe == asked->place ? 0 : volume->probe;
        break;
    case ASK_SCAN:
        /* With a probe to come it stays: behind that inode others are to be probed. */
        volume->scan += volume->scan == asked->place && volume->probe == 0;
        break;
    default:
        move_image(&content->image[asked->object], asked);
        break;
    }
}

enum nw_content_shown nw_content_shown(const struct nw_content *content, uint64_t at)
{
    const struct nw_content_asked *asked = &content->asked;

    if (asked->what == ASK_NOTHING || at < asked->at || at - asked->at >= asked->bytes) {
        return SHOWN_WRITTEN;
    }
    return asked->what == ASK_SCAN ? SHOWN_IN_ORDER : SHOWN_ANSWER;
}

void nw_content_settle(struct nw_content *content, uint64_t at, uint32_t bytes)
{
    struct nw_content_asked asked = content->asked;

    if (asked.what != ASK_NOTHING && asked.at >= at && asked.at - at < bytes &&
        asked.bytes <= bytes - (asked.at - at)) { /* all of it: a part may tell nothing */
        content->asked.what = ASK_NOTHING;
        move_on(content, &asked);
    }
}

static void ask(struct nw_content *content, uint8_t what, uint16_t object, uint32_t place,
                uint32_t bytes)
{
    content->asked.what = what;
    content->asked.object = object;
    content->asked.place = place;
    content->asked.bytes = bytes > ASK_MOST ? (uint32_t)ASK_MOST : bytes;
}

/* A question of a space: 1: there is one; *at: where in the space. */
static int ask_space(struct nw_content *content, uint8_t number, uint64_t *at)
{
    const struct nw_content_space *space = &content->space[number];

    if (space->bytes == 0) {
        return 0;
    }
    if (!space->seen) {
        *at = 0;
        ask(content, ASK_TABLE, number, 0, TABLE_ZONE);
        return 1;
    }
    if (space->table_next < space->table_bytes) {
        *at = space->table_at + space->table_next;
        ask(content, ASK_GPT, number, space->table_next, space->table_bytes - space->table_next);
        return 1;
    }
    return 0;
}

/* Does an image in this volume look for its inode? */
static int is_sought(const struct nw_content *content, uint16_t number)
{
    for (uint16_t i = 0; i < content->config.images; i++) {
        if (content->image[i].used && content->image[i].volume == number &&
            content->image[i].inode == 0) {
            return 1;
        }
    }
    return 0;
}

/* The next block of inodes that has a place; 0: none is left. */
static int ask_scan(struct nw_content *content, uint16_t number, uint64_t *at)
{
    struct nw_content_volume *volume = &content->volume[number];
    uint32_t group = volume->scan / volume->table;

    while (group < volume->groups && volume->place[group * PLACES + 2U] == 0) {
        group++;
        volume->scan = group * volume->table;
    }
    if (group >= volume->groups) {
        return 0;
    }
    *at = (uint64_t)(volume->place[group * PLACES + 2U] + volume->scan % volume->table)
          << volume->shift;
    ask(content, ASK_SCAN, number, volume->scan, (uint32_t)1U << volume->shift);
    return 1;
}

static int ask_volume(struct nw_content *content, uint16_t number, uint64_t *at)
{
    struct nw_content_volume *volume = &content->volume[number];
    uint32_t block = (uint32_t)1U << volume->shift;

    if (!volume->used || content->space[volume->space].divided != (volume->entry != 0)) {
        return 0;
    }
    *at = SUPER_AT;
    if (!volume->seen) {
        ask(content, ASK_SUPER, number, 0, SUPER_BYTES);
        return 1;
    }
    if (!volume->ext) {
        return 0;
    }
    if (volume->next < volume->descriptors) {
        *at = (uint64_t)nw_content_descriptors_at(volume, volume->next) << volume->shift;
        ask(content, ASK_DESCRIPTORS, number, volume->next, block);
        return 1;
    }
    for (uint8_t i = 0; i < volume->journal.nodes; i++) {
        if (volume->journal.unread[i]) {
            *at = (uint64_t)volume->journal.node[i] << volume->shift;
            ask(content, ASK_JOURNAL, number, i, block);
            return 1;
        }
    }
    if (volume->space != 0 || !is_sought(content, number)) {
        return 0;
    }
    if (volume->probe != 0) {
        *at = (uint64_t)volume->probe << volume->shift;
        ask(content, ASK_PROBE, number, volume->probe, block);
        return 1;
    }
    return ask_scan(content, number, at);
}

static uint32_t whole(uint32_t bytes)
{
    return (bytes + SECTOR - 1U) & (uint32_t)~(SECTOR - 1UL);
}

/* A question about an image's file: *at: where in the file, or for ASK_NODE on the volume. */
static int ask_image(struct nw_content *content, uint16_t number, uint64_t *at)
{
    struct nw_content_image *image = &content->image[number];
    uint32_t cluster = (uint32_t)1U << image->shift;

    if (!image->used || image->inode == 0) {
        return 0;
    }
    for (uint8_t i = 0; i < image->file.nodes; i++) {
        if (image->file.unread[i]) {
            *at = (uint64_t)image->file.node[i] << content->volume[image->volume].shift;
            ask(content, ASK_NODE, number, i, (uint32_t)1U << content->volume[image->volume].shift);
            return 1;
        }
    }
    *at = 0;
    if (!image->header_seen) {
        ask(content, ASK_HEADER, number, 0, (uint32_t)1U << content->volume[image->volume].shift);
        return 1;
    }
    if (image->shift == 0) {
        return 0;
    }
    if (image->l1_next < image->l1 * ENTRY) {
        *at = image->l1_at + image->l1_next;
        ask(content, ASK_L1, number, image->l1_next, whole(image->l1 * ENTRY - image->l1_next));
        return 1;
    }
    uint64_t counts = (uint64_t)image->counts << image->shift;

    if (image->counts_next < counts) {
        *at = image->counts_at + image->counts_next;
        ask(content, ASK_COUNTS, number, image->counts_next,
            counts - image->counts_next > ASK_MOST ? (uint32_t)ASK_MOST
                                                   : (uint32_t)(counts - image->counts_next));
        return 1;
    }
    while (image->l2_next < image->l1 && (image->l2[image->l2_next] & L2_UNREAD) == 0) {
        image->l2_next++;
        image->l2_bytes = 0;
    }
    if (image->l2_next == image->l1) {
        return 0;
    }
    *at = ((uint64_t)(image->l2[image->l2_next] & ~L2_UNREAD) << image->shift) + image->l2_bytes;
    ask(content, ASK_L2, number, image->l2_next, cluster - image->l2_bytes);
    return 1;
}

/* A question was put: `found`: where on the disk its answer lies. Else its first `hole` bytes are
 * answered so. */
static int placed(struct nw_content *content, int found, uint64_t at, uint32_t bytes,
                  uint32_t hole)
{
    struct nw_content_asked lost = content->asked;

    if (found) {
        content->asked.at = at;
        content->asked.bytes = bytes;
        return 1;
    }
    lost.bytes = lost.bytes < hole ? lost.bytes : hole;
    content->asked.what = ASK_NOTHING;
    move_on(content, &lost);
    return 0;
}

static int want_image(struct nw_content *content, uint16_t number, uint64_t *at, uint32_t *bytes)
{
    const struct nw_content_image *image = &content->image[number];
    uint32_t block = (uint32_t)1U << content->volume[image->volume].shift;
    uint64_t from = 0;

    while (ask_image(content, number, &from)) {
        int found = 1;

        *bytes = content->asked.bytes;
        *at = content->volume[image->volume].start + from;
        if (content->asked.what != ASK_NODE) {
            found = locate_file(content, image, from, at, bytes);
        }
        found = found && locate(content, 0, *at, at, bytes);
        if (placed(content, found, *at, *bytes, block)) {
            return 1;
        }
    }
    return 0;
}

int nw_content_want(struct nw_content *content, uint64_t *at, uint32_t *bytes)
{
    uint64_t from = 0;
    int found;

    for (uint16_t i = 0; i < content->config.images; i++) {
        nw_content_image_news(content, &content->image[i]);
    }
    for (uint16_t i = 0; i <= content->config.images; i++) {
        while (ask_space(content, (uint8_t)i, &from)) {
            *bytes = content->asked.bytes;
            found = locate(content, (uint8_t)i, from, at, bytes);
            if (placed(content, found, *at, *bytes, HOLE)) {
                return 1;
            }
        }
    }
    for (uint16_t i = 0; i <= content->config.volumes; i++) {
        while (ask_volume(content, i, &from)) {
            const struct nw_content_volume *volume = &content->volume[i];

            *bytes = content->asked.bytes;
            found = locate(content, volume->space, volume->start + from, at, bytes);
            if (placed(content, found, *at, *bytes, HOLE)) {
                return 1;
            }
        }
    }
    for (uint16_t i = 0; i < content->config.images; i++) {
        if (want_image(content, i, at, bytes)) {
            return 1;
        }
    }
    return 0;
}

/* Of guests' file systems that are cut otherwise now, or whose journal lies somewhere else, all is
 * to be told again. */
static void note_cuts(struct nw_content *content)
{
    for (uint32_t i = 0; i <= content->config.volumes; i++) {
        struct nw_content_volume *volume = &content->volume[i];
        struct nw_content_range *journal = &volume->journal.again;

        if ((volume->again || journal->first != journal->end) && volume->space > 0) {
            nw_content_widen(&content->image[volume->space - 1U].file.again, 0, UINT32_MAX);
        }
        volume->again = 0;
        journal->first = journal->end;
    }
}

/* The next stretch of an image's file to be told again: 1: where on the disk. */
static int again_image(struct nw_content *content, struct nw_content_image *image, uint64_t *at,
                       uint32_t *bytes)
{
    struct nw_content_range *again = &image->file.again;
    uint8_t shift = content->volume[image->volume].shift;

    while (image->used && again->first < again->end) {
        const struct nw_content_extent *extent = nw_content_file_from(&image->file, again->first);
        uint64_t left = (uint64_t)(again->end - again->first) << shift;

        if (extent == NULL || extent->from >= again->end) {
            break;
        }
        if (extent->from > again->first) {
            again->first = extent->from;
            continue;
        }
        if (content->volume[image->volume].start + ((uint64_t)extent->first << shift) >=
            content->config.bytes) {
            again->first = extent->count < again->end - extent->from
                               ? extent->from + extent->count
                               : again->end; /* beyond the disk */
            continue;
        }
        *bytes = left < ASK_MOST ? (uint32_t)left : (uint32_t)ASK_MOST;
        (void)locate_file(content, image, (uint64_t)again->first << shift, at, bytes);
        again->first += *bytes >> shift;
        if (locate(content, 0, *at, at, bytes)) {
            return 1;
        }
    }
    again->first = again->end;
    return 0;
}

int nw_content_again(struct nw_content *content, uint64_t *at, uint32_t *bytes)
{
    note_cuts(content);
    for (uint16_t i = 0; i < content->config.images; i++) {
        if (again_image(content, &content->image[i], at, bytes)) {
            return 1;
        }
    }
    return 0;
}
