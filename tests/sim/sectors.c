/* SPDX-License-Identifier: Apache-2.0 */
#include "sectors.h"

#include <stdio.h>

static uint8_t find(const struct sim_sector *sector, uint32_t value)
{
    uint8_t at = 0;

    while (at < sector->count && sector->value[at] != value) {
        at++;
    }
    return at;
}

static uint8_t bit(uint8_t at)
{
    return (uint8_t)(1U << at);
}

/* The value's place; SIM_VALUES: there is no room. */
static uint8_t add(struct sim_sector *sector, uint32_t value)
{
    uint8_t at = find(sector, value);

    if (at == sector->count && at < SIM_VALUES) {
        sector->value[sector->count++] = value;
    }
    if (at == SIM_VALUES) {
        sector->any = 1;
    }
    return at;
}

void sim_sector_set(struct sim_sector *sector, uint32_t value)
{
    *sector = (struct sim_sector){.value = {value}, .count = 1, .live = 1, .lasts = 1};
}

void sim_sector_may(struct sim_sector *sector, uint32_t value)
{
    uint8_t at = add(sector, value);

    sector->live |= at < SIM_VALUES ? bit(at) : 0;
    sector->lasts = 0;
}

void sim_sector_late(struct sim_sector *sector, uint32_t value)
{
    if (sector->count == 1U && sector->value[0] == value && sector->any == 0) {
        return;
    }
    uint8_t at = add(sector, value);
    if (at < SIM_VALUES) {
        sector->live = bit(at);
    }
    sector->lasts = 0;
}

static void keep(struct sim_sector *sector, uint8_t kept)
{
    uint8_t count = 0;

    for (uint8_t i = 0; i < sector->count; i++) {
        if ((kept & bit(i)) != 0) {
            sector->value[count++] = sector->value[i];
        }
    }
    sector->count = count;
    sector->live = (uint8_t)((1U << count) - 1U);
}

void sim_sector_sync(struct sim_sector *sector)
{
    keep(sector, sector->live);
    sector->lasts = 1;
    sector->any = sector->any == 1U;
}

void sim_sector_mount(struct sim_sector *sector)
{
    sector->live = (uint8_t)((1U << sector->count) - 1U);
    sector->lasts = 1;
    sector->any = sector->any != 0 || sector->rotten != 0;
}

void sim_sector_rot(struct sim_sector *sector)
{
    sim_sector_set(sector, SIM_LOST);
    sector->rotten = 1;
}

int sim_sector_show(struct sim_sector *sector, uint32_t value)
{
    uint8_t at = find(sector, value);

    if (sector->any == 1U) {
        uint8_t rotten = sector->rotten;
        uint8_t lasts = sector->lasts;

        sim_sector_set(sector, value);
        sector->rotten = rotten;
        if (lasts == 0) {
            sector->lasts = 0;
            sector->any = SIM_ANY_LATER;
        }
        return 0;
    }
    if (at == sector->count || (sector->live & bit(at)) == 0) {
        return -1;
    }
    if (sector->lasts != 0) {
        keep(sector, bit(at));
    } else {
        sector->live = bit(at);
    }
    return 0;
}

static int value_text(uint32_t value, char *text, unsigned bytes)
{
    if (value == SIM_LOST) {
        return snprintf(text, bytes, "an error");
    }
    return value == 0 ? snprintf(text, bytes, "zeros")
                      : snprintf(text, bytes, "write %lu", (unsigned long)value);
}

void sim_sector_text(const struct sim_sector *sector, char *text, unsigned bytes)
{
    unsigned used = 0;

    text[0] = '\0';
    for (uint8_t i = 0; i < sector->count && used + 1U < bytes; i++) {
        if ((sector->live & bit(i)) != 0) {
            used += used > 0 ? (unsigned)snprintf(text + used, bytes - used, " or ") : 0U;
            used += used < bytes ? (unsigned)value_text(sector->value[i], text + used, bytes - used)
                                 : 0U;
        }
    }
}
