/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting: the map from the tags. Two walks over the chip; the second needs to know the newest
 * commit, which the first finds.
 *
 * Doubt. A power cut leaves at most one page torn, and a torn page may read as old, as new or as
 * nothing, differently after each power-up. It can only be the last page of a block that was being
 * filled, or the newest page of all. Such pages are set aside as doubts: the map is made without
 * them, so that what they replace is not given away before they are settled.
 */
#include <string.h>

#include "nandwich/crc.h"
#include "page.h"

/* A block that begins with pages of a settle. */
struct kind {
    uint64_t version; /* of its first good page */
    uint32_t commit;  /* page of a good commit, or NW_PAGE_NONE */
    uint16_t pages;   /* up to the last good page of the settle */
    uint8_t commits;  /* good ones */
    uint8_t after;    /* pages were written after the settle */
};

struct scan {
    struct nw_page *page;
    uint64_t base;        /* version from which on pages may be in doubt: the newest commit */
    uint64_t top;         /* newest last page of a block since then */
    struct nw_tag full;   /* a full block's last page that may be the newest of all */
    uint32_t full_at;     /* NW_PAGE_NONE: none */
    struct nw_page_suspect notes[NW_PAGE_SUSPECTS]; /* of the newest commit */
    uint8_t note_count;
    uint8_t hole_count;
    struct nw_page_doubt holes[NW_PAGE_DOUBTS]; /* blocks with bad tags before good ones, to: how
                                                 * many */
};

static void note_tag(struct nw_page *page, uint16_t block, const struct nw_tag *tag)
{
    if (tag->version >= page->version) {
        page->version = tag->version + 1U;
    }
    if (tag->erases > page->blocks.erases[block]) {
        page->blocks.erases[block] = tag->erases;
    }
}

/* NW_OK with kind->pages 0 when the block does not begin with a settle. */
static int look(struct nw_page *page, uint16_t block, struct kind *kind)
{
    uint32_t first = nw_page_first(page, block);

    *kind = (struct kind){.commit = NW_PAGE_NONE};
    for (uint16_t i = 0; i < page->block_pages && kind->after == 0; i++) {
        struct nw_tag tag;
        int state = nw_page_read_tag(page, first + i, &tag);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state;
        }
        if (state == NW_TAG_BAD) {
            continue;
        }
        note_tag(page, block, &tag);
        if ((tag.word & NW_WORD_SETTLE) == 0) {
            kind->after = 1;
            break;
        }
        kind->version = kind->pages == 0 ? tag.version : kind->version;
        kind->pages = (uint16_t)(i + 1U);
        if (tag.word == NW_WORD_COMMIT) {
            kind->commit = kind->commits == 0 ? first + i : kind->commit; /* a complete one */
            kind->commits++;
        }
    }
    return NW_OK;
}

/* Its settle was over, and will look over after every power-up to come. */
static int is_stable(const struct kind *kind)
{
    return kind->commits >= NW_PAGE_COMMITS || (kind->commits == 2U && kind->after != 0);
}

/* First walk: blocks in use are claimed; the newest stable settle and its notes. */
static int find_session(struct scan *scan)
{
    struct nw_page *page = scan->page;
    struct kind newest = {.commit = NW_PAGE_NONE};

    for (uint16_t block = 0; block < page->blocks.count; block++) {
        struct kind kind;
        struct nw_tag tag;

        if (page->blocks.state[block] == NW_BLOCK_BAD) {
            continue;
        }
        int state = nw_page_read_tag(page, nw_page_first(page, block), &tag);
        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_BLANK) {
            continue;
        }
        nw_blocks_claim(&page->blocks, block);
        page->valid[block] = NW_PAGE_OPEN;
        if (state == NW_TAG_BAD || (tag.word & NW_WORD_SETTLE) == 0) {
            continue;
        }
        state = look(page, block, &kind);
        if (state < 0) {
            return state;
        }
        if (is_stable(&kind) && kind.version > newest.version) {
            newest = kind;
            page->session = block;
        }
    }
    if (page->session == NW_NO_BLOCK) {
        return NW_ERR_NOT_FOUND;
    }
    scan->base = newest.version;
    int result = nw_page_get_record(page, newest.commit);
    memcpy(scan->notes, page->suspect, sizeof scan->notes);
    scan->note_count = page->suspects;
    page->suspects = 0;
    return result;
}

static const struct nw_page_suspect *note_of(const struct scan *scan, uint16_t block)
{
    for (uint8_t i = 0; i < scan->note_count; i++) {
        if (scan->notes[i].block == block) {
            return &scan->notes[i];
        }
    }
    return NULL;
}

void nw_page_add_suspect(struct nw_page *page, uint16_t block, uint8_t doubt)
{
    for (uint8_t i = 0; i < page->suspects; i++) {
        if (page->suspect[i].block == block) {
            page->suspect[i].doubt |= doubt;
            return;
        }
    }
    if (page->suspects < NW_PAGE_SUSPECTS) {
        page->suspect[page->suspects++] =
            (struct nw_page_suspect){.block = block, .doubt = doubt};
    }
}

static void add_doubt(struct nw_page *page, uint16_t block, uint16_t from, uint16_t to)
{
    if (page->doubts < NW_PAGE_DOUBTS) {
        page->doubt[page->doubts++] =
            (struct nw_page_doubt){.block = block, .from = from, .to = to};
    }
}

int nw_page_has_doubt(const struct nw_page *page, uint16_t block)
{
    for (uint8_t i = 0; i < page->doubts; i++) {
        if (page->doubt[i].block == block) {
            return 1;
        }
    }
    return 0;
}

/* A page that will always read like this: into the map if it is the newest of its slot so far. */
static int accept(struct nw_page *page, uint32_t at, const struct nw_tag *tag)
{
    uint32_t slot = tag->word & NW_WORD_SLOT;
    struct nw_tag other;

    if (slot >= page->slots) {
        return NW_OK; /* a commit or a note */
    }
    if (page->map[slot] != NW_PAGE_NONE) {
        int state = nw_page_read_tag(page, page->map[slot], &other);
        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_GOOD && other.version >= tag->version) {
            return NW_OK;
        }
    }
    nw_page_point(page, slot, at);
    return NW_OK;
}

/* The last good page of a block: outdated, accepted, or set aside. */
static int scan_last(struct scan *scan, uint16_t block, uint32_t at, const struct nw_tag *tag,
                     int unsettled)
{
    struct nw_page *page = scan->page;
    uint16_t last = (uint16_t)(at - nw_page_first(page, block));
    int is_full = last + 1U == page->block_pages;

    if (tag->version < scan->base && !unsettled) {
        return is_full ? accept(page, at, tag) : NW_OK; /* settled: moved, or it never was */
    }
    int is_newest = tag->version > scan->top;
    if (is_newest) {
        scan->top = tag->version;
    }
    if (!is_full || unsettled) {
        add_doubt(page, block, last > 0 ? (uint16_t)(last - 1U) : last, last);
        if (last + 2U == page->block_pages) {
            nw_page_add_suspect(page, block, 0);
        }
        return NW_OK;
    }
    if (!is_newest) {
        return accept(page, at, tag);
    }
    if (scan->full_at != NW_PAGE_NONE) {
        int result = accept(page, scan->full_at, &scan->full);
        if (result < 0) {
            return result;
        }
    }
    scan->full_at = at;
    scan->full = *tag;
    return NW_OK;
}

static int scan_block(struct scan *scan, uint16_t block)
{
    struct nw_page *page = scan->page;
    uint32_t first = nw_page_first(page, block);
    uint32_t last_at = NW_PAGE_NONE;
    uint16_t length = page->block_pages;
    struct nw_tag last = {0};
    uint16_t bad = 0;
    uint16_t holes = 0;
    int unsettled = 0;

    for (uint16_t i = 0; i < length; i++) {
        struct nw_tag tag;
        int state = nw_page_read_tag(page, first + i, &tag);

        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_BLANK) {
            break;
        }
        if (state == NW_TAG_BAD) {
            bad++;
            continue;
        }
        holes = bad;
        note_tag(page, block, &tag);
        const struct nw_page_suspect *note = note_of(scan, block);
        if (last_at == NW_PAGE_NONE && tag.version < scan->base && note != NULL) {
            unsettled = note->doubt;
            if (unsettled == 0) {
                length--; /* the last page is void */
                nw_page_add_suspect(page, block, 0);
            }
        }
        if (i < length) {
            int result = last_at != NW_PAGE_NONE ? accept(page, last_at, &last) : NW_OK;
            if (result < 0) {
                return result;
            }
            last_at = first + i;
            last = tag;
        }
    }
    if (holes > 0 && scan->hole_count < NW_PAGE_DOUBTS) {
        scan->holes[scan->hole_count++] = (struct nw_page_doubt){.block = block, .to = holes};
    }
    return last_at != NW_PAGE_NONE ? scan_last(scan, block, last_at, &last, unsettled) : NW_OK;
}

/* Second walk. */
static int scan_all(struct scan *scan)
{
    struct nw_page *page = scan->page;

    for (uint16_t block = 0; block < page->blocks.count; block++) {
        const struct nw_page_suspect *note = note_of(scan, block);
        struct kind kind;
        int result;

        if (page->blocks.state[block] != NW_BLOCK_USED) {
            continue;
        }
        result = look(page, block, &kind);
        if (result < 0) {
            return result;
        }
        if (kind.pages == 0 || is_stable(&kind) ||
            (kind.commits == 2U && kind.version < scan->base)) {
            result = scan_block(scan, block);
        } else if (kind.version > scan->base ? kind.commits > 0
                                             : note != NULL && note->doubt != 0) {
            add_doubt(page, block, 0, (uint16_t)(kind.pages - 1U));
        }
        if (result < 0) {
            return result;
        }
    }
    if (scan->full_at == NW_PAGE_NONE) {
        return NW_OK;
    }
    if (scan->full.version < scan->top) {
        return accept(page, scan->full_at, &scan->full);
    }
    add_doubt(page, nw_page_block_of(page, scan->full_at), (uint16_t)(page->block_pages - 2U),
              (uint16_t)(page->block_pages - 1U));
    return NW_OK;
}

int nw_page_find(struct nw_page *page)
{
    struct scan scan = {.page = page, .full_at = NW_PAGE_NONE};
    int result = find_session(&scan);

    if (result == NW_OK) {
        result = scan_all(&scan);
    }
    for (uint32_t slot = page->sectors; result == NW_OK && slot < page->slots; slot++) {
        if (page->map[slot] != NW_PAGE_NONE) {
            result = nw_page_load_trim(page, slot);
        }
    }
    for (uint8_t i = 0; i < scan.hole_count; i++) {
        if (page->valid[scan.holes[i].block] != NW_PAGE_OPEN) { /* not what an erase has left */
            page->stats->lost += scan.holes[i].to;
        }
    }
    return result;
}

/* A page in doubt, into the map. The last one of a block only if it is whole now; those before it
 * were complete when it was begun. */
static int believe_page(struct nw_page *page, uint32_t at, int is_last)
{
    uint16_t length = page->chip->geometry.page_bytes;
    uint16_t block = nw_page_block_of(page, at);
    struct nw_tag tag;
    int state = nw_page_read_tag(page, at, &tag);

    if (state != NW_TAG_GOOD || (tag.word & NW_WORD_SLOT) >= page->slots) {
        return state < 0 ? state : NW_OK;
    }
    uint32_t slot = tag.word & NW_WORD_SLOT;
    int has_data = page->payload != 0 || slot >= page->sectors;
    if (is_last && has_data && (tag.word & NW_WORD_DAMAGED) == 0) {
        state = nw_page_read(page, at, length, page->buffer, &tag);
        if (state < 0 && state != NW_ERR_ECC) {
            return state;
        }
        if (state != NW_TAG_GOOD || tag.crc != nw_crc32(NW_CRC32_START, page->buffer, length)) {
            if (at + 1U == nw_page_first(page, block) + page->block_pages) {
                nw_page_add_suspect(page, block, 0); /* else it would pass for a filled block */
            }
            return NW_OK;
        }
    }
    nw_page_doubt_trim(page, slot);
    return accept(page, at, &tag);
}

/* Now that what follows cannot give away what doubts replace: let them into the map. */
int nw_page_believe(struct nw_page *page)
{
    int result = NW_OK;

    for (uint8_t i = 0; i < page->doubts; i++) {
        uint32_t first = nw_page_first(page, page->doubt[i].block);

        for (uint32_t k = page->doubt[i].from; k <= page->doubt[i].to; k++) {
            result = believe_page(page, first + k, k == page->doubt[i].to);
            if (result < 0) {
                return result;
            }
        }
    }
    for (uint32_t slot = page->sectors; slot < page->slots; slot++) {
        if (page->unsaved[slot - page->sectors] != 0 && page->map[slot] != NW_PAGE_NONE) {
            result = nw_page_load_trim(page, slot);
            if (result < 0) {
                return result;
            }
        }
        page->unsaved[slot - page->sectors] = 0;
    }
    page->unsaved_count = 0;
    return NW_OK;
}
