/* SPDX-License-Identifier: Apache-2.0 */
/* access.c - where tagged variables lie now. */
#include "nandwich-tagged/tagged.h"

struct nw_small nw_tagged_small;

static uint16_t object_count;
static uintptr_t first_address, all_bytes; /* of all objects */

void *nw_tagged_page(uint8_t page, uint8_t marks)
{
    uint8_t *frame = nw_tagged_frame_of[page];

    if (frame == NULL) {
        frame = nw_small_fault(&nw_tagged_small, page);
    }
    frame[1] |= marks;
    return frame + NW_SMALL_FRAME_EXTRA;
}

static uint16_t offset_at(const uint8_t *place)
{
    return (uint16_t)(NW_TAGGED_BYTE(place + 1) | NW_TAGGED_BYTE(place + 2) << 8);
}

void *nw_tagged_element(uint16_t element, uint8_t marks)
{
    const uint8_t *place = nw_tagged_places + (size_t)element * NW_TAGGED_PLACE_BYTES;

    return (uint8_t *)nw_tagged_page(NW_TAGGED_BYTE(place), marks) + offset_at(place);
}

static void object_at(uint16_t index, struct nw_tagged_object *object)
{
    NW_TAGGED_COPY(object, &nw_tagged_objects[index], sizeof *object);
}

/* The object that an address between the first and the last belongs to. */
static void search(uintptr_t address, struct nw_tagged_object *object)
{
    uint16_t low = 0, high = object_count;

    while (high - low > 1) {
        uint16_t middle = (uint16_t)(low + (high - low) / 2);

        object_at(middle, object);
        if (object->start <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    object_at(low, object);
}

/* Where an address lies, and how many bytes of its element from there on; an address that is none
 * of ours is all one element. */
static uint8_t *element_at(const void *address, uint8_t marks, uint16_t *left)
{
    struct nw_tagged_object object;
    uintptr_t at = (uintptr_t)address;

    if (at - first_address >= all_bytes) {
        *left = UINT16_MAX;
        return (uint8_t *)at;
    }
    search(at, &object);
    uintptr_t offset = at - object.start;
    uint16_t index = (uint16_t)(offset / object.element_bytes);
    uint16_t within = (uint16_t)(offset - (uintptr_t)index * object.element_bytes);

    *left = (uint16_t)(object.element_bytes - within);
    return (uint8_t *)nw_tagged_element((uint16_t)(object.first + index), marks) + within;
}

void *nw_tagged_find(const void *address, uint8_t marks)
{
    uint16_t left;

    return element_at(address, marks, &left);
}

void nw_tagged_get(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    while (bytes > 0) {
        uint16_t left;
        const uint8_t *at = element_at(from, NW_SMALL_USED, &left);
        uint8_t now = (uint8_t)(left < bytes ? left : bytes);

        memcpy(to, at, now);
        to += now;
        from += now;
        bytes = (uint8_t)(bytes - now);
    }
}

void nw_tagged_put(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    while (bytes > 0) {
        uint16_t left;
        uint8_t *at = element_at(to, NW_SMALL_USED | NW_SMALL_DIRTY, &left);
        uint8_t now = (uint8_t)(left < bytes ? left : bytes);

        memcpy(at, from, now);
        to += now;
        from += now;
        bytes = (uint8_t)(bytes - now);
    }
}

static void place_initial(const struct nw_tagged_object *object, uint8_t page, uint8_t *to)
{
    const uint8_t *place = nw_tagged_places + (size_t)object->first * NW_TAGGED_PLACE_BYTES;

    for (uintptr_t at = 0; at < object->bytes; at += object->element_bytes) {
        if (NW_TAGGED_BYTE(place) == page) {
            NW_TAGGED_COPY(to + offset_at(place), object->initial + at, object->element_bytes);
        }
        place += NW_TAGGED_PLACE_BYTES;
    }
}

/* Looks at every element with an initial value: only the first time a page is wanted, and until it
 * is written. */
static void initial(struct nw_small *small, uint8_t page, uint8_t *to)
{
    struct nw_tagged_object object;

    memset(to, 0, small->config.page_bytes);
    for (uint16_t i = 0; i < object_count; i++) {
        object_at(i, &object);
        if (object.initial != NULL) {
            place_initial(&object, page, to);
        }
    }
}

int nw_tagged_open(struct nw_small_config *config)
{
    struct nw_tagged_object object;

    object_count = nw_tagged_configure(config);
    config->initial = initial;
    object_at((uint16_t)(object_count - 1U), &object);
    all_bytes = object.start + object.bytes;
    object_at(0, &object);
    first_address = object.start;
    all_bytes -= first_address;
    return nw_small_open(&nw_tagged_small, config);
}
