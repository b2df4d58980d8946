/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-vmtrace/layout.h"

#include "nandwich/error.h"

#include <stdlib.h>
#include <string.h>

static uint32_t element_bytes(const struct nw_access_object *object, uint32_t whole_bytes)
{
    return object->bytes <= whole_bytes ? object->bytes : object->element_bytes;
}

static int count_elements(struct nw_elements *elements, uint32_t whole_bytes)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < elements->objects; i++) {
        const struct nw_access_object *object = &elements->object[i];

        elements->size[i] = element_bytes(object, whole_bytes);
        elements->first[i] = (uint32_t)count;
        count += object->bytes / elements->size[i];
        if (count > NW_LAYOUT_ELEMENTS_MAX) {
            return NW_ERR_CONFIG;
        }
    }
    elements->first[elements->objects] = (uint32_t)count;
    elements->count = (uint32_t)count;
    return count > 0 ? NW_OK : NW_ERR_CONFIG;
}

int nw_elements_open(struct nw_elements *elements, const struct nw_access_object *object,
                     uint32_t objects, uint32_t whole_bytes)
{
    int result = NW_ERR_RAM;

    memset(elements, 0, sizeof *elements);
    elements->object = object;
    elements->objects = objects;
    elements->first = calloc((size_t)objects + 1U, sizeof *elements->first);
    elements->size = calloc((size_t)objects + 1U, sizeof *elements->size);
    elements->bytes = calloc(NW_LAYOUT_ELEMENTS_MAX, sizeof *elements->bytes);
    if (elements->first != NULL && elements->size != NULL && elements->bytes != NULL) {
        result = count_elements(elements, whole_bytes);
    }
    for (uint32_t i = 0; result == NW_OK && i < objects; i++) {
        for (uint32_t at = elements->first[i]; at < elements->first[i + 1U]; at++) {
            elements->bytes[at] = elements->size[i];
        }
    }
    if (result < 0) {
        nw_elements_close(elements);
    }
    return result;
}

void nw_elements_close(struct nw_elements *elements)
{
    free(elements->first);
    free(elements->size);
    free(elements->bytes);
    memset(elements, 0, sizeof *elements);
}

/* The first object that ends behind the address; `objects` when none does. */
static uint32_t find(const struct nw_elements *elements, uint64_t address)
{
    uint32_t low = 0, high = elements->objects;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2U;
        const struct nw_access_object *object = &elements->object[middle];

        if (object->address + object->bytes > address) {
            high = middle;
        } else {
            low = middle + 1U;
        }
    }
    return low;
}

uint32_t nw_elements_next(struct nw_elements *elements, uint64_t *address, uint64_t end)
{
    const struct nw_access_object *object = &elements->object[elements->near];

    if (*address < object->address || *address - object->address >= object->bytes) {
        elements->near = find(elements, *address);
        if (elements->near == elements->objects) {
            elements->near = 0;
            return NW_NO_ELEMENT;
        }
        object = &elements->object[elements->near];
    }
    uint64_t at = *address > object->address ? *address - object->address : 0;
    if (object->address + at >= end) {
        return NW_NO_ELEMENT;
    }
    uint32_t size = elements->size[elements->near], index = (uint32_t)at / size;
    *address = object->address + (uint64_t)(index + 1U) * size;
    return elements->first[elements->near] + index;
}
