/* SPDX-License-Identifier: Apache-2.0 */
#include "cycles.h"

#define PC 15U

static struct cycles fixed(uint32_t cycles)
{
    return (struct cycles){cycles, cycles, false};
}

static struct cycles band(uint32_t least, uint32_t most)
{
    return (struct cycles){least, most, false};
}

static struct cycles branch(uint32_t cycles)
{
    return band(cycles + CYCLES_REFILL_LEAST, cycles + CYCLES_REFILL_MOST);
}

static uint32_t bits(uint32_t list)
{
    uint32_t count = 0;

    for (; list != 0; list &= list - 1U) {
        count++;
    }
    return count;
}

static struct cycles several(uint32_t registers, bool to_pc)
{
    return to_pc ? branch(1U + registers) : fixed(1U + registers);
}

/* 1011 ....: pushes, pops, compares with zero, IT and what takes a cycle. */
static struct cycles miscellaneous(uint16_t first)
{
    if ((first & 0xF500U) == 0xB100U) {
        return (struct cycles){1, 1, true}; /* CBZ, CBNZ */
    }
    if ((first & 0xF600U) == 0xB400U) {
        bool pops = (first & 0x0800U) != 0;
        bool more = (first & 0x0100U) != 0; /* LR or PC */

        return several(bits(first & 0xFFU) + (more ? 1U : 0U), pops && more);
    }
    return (first & 0xFF00U) == 0xBF00U ? band(0, 1) : fixed(1);
}

static struct cycles cycles_of_16(uint16_t first)
{
    switch (first >> 12) {
    case 0x4:
        if ((first & 0xFF00U) == 0x4700U) {
            return branch(1); /* BX, BLX */
        }
        if ((first & 0xFC00U) == 0x4400U && ((first & 7U) | (first >> 4 & 8U)) == PC &&
            (first & 0x0300U) != 0x0100U) {
            return branch(1); /* into PC */
        }
        return first >= 0x4800U ? band(1, 2) : fixed(1);
    case 0x5:
    case 0x6:
    case 0x7:
    case 0x8:
    case 0x9: return band(1, 2);
    case 0xB: return miscellaneous(first);
    case 0xC: return several(bits(first & 0xFFU), false);
    case 0xD: return (struct cycles){1, 1, true};
    case 0xE: return branch(1);
    default: return fixed(1);
    }
}

static struct cycles multiply(uint16_t first, uint16_t second)
{
    if ((first & 0x0080U) == 0) {
        return fixed((second >> 12) == PC ? 1 : 2);
    }
    switch (first & 0x0070U) {
    case 0x0000:
    case 0x0020: return band(3, 5);
    case 0x0010:
    case 0x0030: return band(2, 12); /* divisions */
    default: return band(4, 7);
    }
}

static struct cycles control(uint16_t first, uint16_t second)
{
    if ((second & 0x5000U) != 0) {
        return branch(1); /* B.W, BL */
    }
    if ((first & 0x0380U) != 0x0380U) {
        return (struct cycles){1, 1, true};
    }
    return band(1, 4); /* barriers, special registers */
}

static struct cycles cycles_of_32(uint16_t first, uint16_t second)
{
    if ((first & 0xFE40U) == 0xE800U) {
        return several(bits(second), (first & 0x10U) != 0 && (second & 0x8000U) != 0);
    }
    if ((first & 0xFE40U) == 0xE840U) {
        bool table = (first & 0xFFF0U) == 0xE8D0U && (second & 0xFFE0U) == 0xF000U;

        return table ? branch(2) : band(2, 3);
    }
    if ((first & 0xFE00U) == 0xF800U) {
        bool to_pc = (first & 0xFF70U) == 0xF850U && (second >> 12) == PC;

        return to_pc ? branch(2) : band(1, 2);
    }
    if ((first & 0xFF00U) == 0xFB00U) {
        return multiply(first, second);
    }
    return (first & 0xF800U) == 0xF000U && (second & 0x8000U) != 0 ? control(first, second)
                                                                    : fixed(1);
}

struct cycles cycles_of(uint16_t first, uint16_t second)
{
    return first >> 11 >= 0x1DU ? cycles_of_32(first, second) : cycles_of_16(first);
}
