/* SPDX-License-Identifier: Apache-2.0 */
#include "sim8051.h"

#include <stdio.h>
#include <string.h>

#define ACC sim->sfr[0x60]
#define B_REG sim->sfr[0x70]
#define PSW sim->sfr[0x50]
#define SP sim->sfr[0x01]
#define DPL sim->sfr[0x02]
#define DPH sim->sfr[0x03]
#define TCON sim->sfr[0x08]
#define TL0 sim->sfr[0x0A]
#define TH0 sim->sfr[0x0C]
#define CKCON sim->sfr[0x0E]
#define IE sim->sfr[0x28]
#define SPSR sim->sfr[0x23]

#define CY 0x80U
#define AC 0x40U
#define OV 0x04U

/* Machine cycles: a row for each high nibble of the opcode, columns 0 to 7, then one for 8 to F
 * (the registers). 8 stands for two and the stretch of external memory. */
static const char *const cycles[2][16] = {
    {"122111111", "222111111", "222111111", "222111111", "221211111", "221211111", "221211111",
     "222212111", "222242222", "222211111", "221241222", "221122222", "221111111", "221112112",
     "222211111", "222211111"},
    {"134112111", "434112111", "434122111", "434122111", "332322111", "332322111", "332322111",
     "332323222", "332353222", "332322111", "232351222", "232144444", "232112111", "232114113",
     "838812111", "838812111"},
};

static uint8_t fetch(struct sim8051 *sim)
{
    return sim->code[sim->pc++];
}

static uint8_t *reg(struct sim8051 *sim, unsigned n)
{
    return &sim->iram[(PSW & 0x18U) + n];
}

static uint8_t *indirect(struct sim8051 *sim, uint8_t address)
{
    if (address >= sizeof sim->iram) {
        sim->stop = SIM_STACK;
        address = 0;
    }
    return &sim->iram[address];
}

static uint8_t read_direct(struct sim8051 *sim, uint8_t address)
{
    if (address < 0x80U) {
        return sim->iram[address];
    }
    if (address == 0xD0U) {
        uint8_t parity = ACC;

        parity ^= (uint8_t)(parity >> 4);
        parity ^= (uint8_t)(parity >> 2);
        parity ^= (uint8_t)(parity >> 1);
        return (uint8_t)((PSW & 0xFEU) | (parity & 1U));
    }
    if (address == 0xA3U) {
        SPSR = sim->clocks >= sim->spi_ready ? 0x80U : 0;
    }
    return sim->sfr[address - 0x80U];
}

static void write_direct(struct sim8051 *sim, uint8_t address, uint8_t value)
{
    if (address < 0x80U) {
        sim->iram[address] = value;
        return;
    }
    if (address == 0xA2U) {
        if (sim->clocks < sim->spi_ready) {
            sim->stop = SIM_SPI;
        }
        sim->spi_ready = sim->clocks + sim->spi_clocks;
        value = sim->spi != NULL ? sim->spi(sim, value) : 0xFFU;
    }
    sim->sfr[address - 0x80U] = value;
    if ((address == 0x80U || address == 0x90U || address == 0xB0U) && sim->port != NULL) {
        sim->port(sim, address, value);
    }
}

static uint8_t bit_address(uint8_t bit)
{
    return bit < 0x80U ? (uint8_t)(0x20U + (bit >> 3)) : (uint8_t)(bit & 0xF8U);
}

static unsigned read_bit(struct sim8051 *sim, uint8_t bit)
{
    return (read_direct(sim, bit_address(bit)) >> (bit & 7U)) & 1U;
}

static void write_bit(struct sim8051 *sim, uint8_t bit, unsigned value)
{
    uint8_t address = bit_address(bit);
    uint8_t mask = (uint8_t)(1U << (bit & 7U));
    uint8_t old = read_direct(sim, address);

    write_direct(sim, address, (uint8_t)(value ? old | mask : old & ~mask));
}

static void set_carry(struct sim8051 *sim, unsigned carry)
{
    PSW = (uint8_t)(carry ? PSW | CY : PSW & ~CY);
}

static void push(struct sim8051 *sim, uint8_t value)
{
    *indirect(sim, ++SP) = value;
    sim->highest = SP > sim->highest ? SP : sim->highest;
}

static uint8_t pop(struct sim8051 *sim)
{
    return *indirect(sim, SP--);
}

static void call(struct sim8051 *sim, uint16_t to)
{
    push(sim, (uint8_t)sim->pc);
    push(sim, (uint8_t)(sim->pc >> 8));
    sim->pc = to;
}

static void ret(struct sim8051 *sim)
{
    uint8_t high = pop(sim);

    sim->pc = (uint16_t)((high << 8) | pop(sim));
}

static void jump_if(struct sim8051 *sim, unsigned condition)
{
    int8_t offset = (int8_t)fetch(sim);

    if (condition) {
        sim->pc = (uint16_t)(sim->pc + offset);
    }
}

/* Operand of columns 4 (immediate), 5 (direct), 6 and 7 (@Ri), 8 to F (Rn). */
static uint8_t operand(struct sim8051 *sim, unsigned column)
{
    if (column == 4) {
        return fetch(sim);
    }
    if (column == 5) {
        return read_direct(sim, fetch(sim));
    }
    return column < 8 ? *indirect(sim, *reg(sim, column - 6)) : *reg(sim, column - 8);
}

static void store(struct sim8051 *sim, unsigned column, uint8_t value)
{
    if (column == 5) {
        write_direct(sim, fetch(sim), value);
    } else if (column < 8) {
        *indirect(sim, *reg(sim, column - 6)) = value;
    } else {
        *reg(sim, column - 8) = value;
    }
}

static void add(struct sim8051 *sim, uint8_t value, unsigned carry)
{
    unsigned sum = ACC + value + carry;
    unsigned half = (ACC & 15U) + (value & 15U) + carry;
    unsigned over = ~(ACC ^ value) & (ACC ^ sum) & 0x80U;

    PSW = (uint8_t)((PSW & ~(CY | AC | OV)) | (sum > 255U ? CY : 0) | (half > 15U ? AC : 0) |
                    (over ? OV : 0));
    ACC = (uint8_t)sum;
}

static void subtract(struct sim8051 *sim, uint8_t value)
{
    unsigned borrow = (PSW & CY) != 0;
    unsigned result = ACC - value - borrow;
    unsigned over = (ACC ^ value) & (ACC ^ result) & 0x80U;

    PSW = (uint8_t)((PSW & ~(CY | AC | OV)) | (ACC < value + borrow ? CY : 0) |
                    ((ACC & 15U) < (value & 15U) + borrow ? AC : 0) | (over ? OV : 0));
    ACC = (uint8_t)result;
}

static void compare_jump(struct sim8051 *sim, uint8_t a, uint8_t b)
{
    set_carry(sim, a < b);
    jump_if(sim, a != b);
}

static uint8_t *external(struct sim8051 *sim, uint16_t address)
{
    if (address >= sim->xram) {
        sim->stop = SIM_XRAM;
    }
    return &sim->xdata[address];
}

/* MOVX by R0 or R1: port 2 gives the upper half of the address. */
static uint16_t paged(struct sim8051 *sim, uint8_t op)
{
    return (uint16_t)((sim->sfr[0x20] << 8) | *reg(sim, op & 1U));
}

static uint8_t logic(unsigned row, uint8_t a, uint8_t b)
{
    return (uint8_t)(row == 4 ? a | b : row == 5 ? a & b : a ^ b);
}

static void step_memory(struct sim8051 *sim, uint8_t op, uint8_t address)
{
    uint8_t value;

    if (op < 0x70U && (op & 15U) <= 3U) { /* ORL, ANL, XRL to a direct byte */
        value = (op & 15U) == 2U ? ACC : fetch(sim);
        write_direct(sim, address, logic(op >> 4, read_direct(sim, address), value));
    } else if (op == 0xD5U) {
        value = (uint8_t)(read_direct(sim, address) - 1U);
        write_direct(sim, address, value);
        jump_if(sim, value != 0);
    } else if (op == 0xC5U) {
        value = read_direct(sim, address);
        write_direct(sim, address, ACC);
        ACC = value;
    } else if (op == 0x85U) {
        write_direct(sim, fetch(sim), read_direct(sim, address));
    } else if (op == 0x75U) {
        write_direct(sim, address, fetch(sim));
    } else {
        value = (uint8_t)(read_direct(sim, address) + (op == 0x05U ? 1U : 255U));
        write_direct(sim, address, value);
    }
}

static void step_bit(struct sim8051 *sim, uint8_t op, uint8_t bit)
{
    unsigned carry = (PSW & CY) != 0;
    unsigned value = read_bit(sim, bit);

    switch (op) {
    case 0x10: if (value) { write_bit(sim, bit, 0); } jump_if(sim, value); break;
    case 0x20: jump_if(sim, value); break;
    case 0x30: jump_if(sim, !value); break;
    case 0x72: set_carry(sim, carry | value); break;
    case 0x82: set_carry(sim, carry & value); break;
    case 0x92: write_bit(sim, bit, carry); break;
    case 0xA0: set_carry(sim, carry | !value); break;
    case 0xA2: set_carry(sim, value); break;
    case 0xB0: set_carry(sim, carry & !value); break;
    case 0xB2: write_bit(sim, bit, !value); break;
    case 0xC2: write_bit(sim, bit, 0); break;
    default: write_bit(sim, bit, 1); break; /* 0xD2 */
    }
}

static void decimal_adjust(struct sim8051 *sim)
{
    unsigned sum = ACC;

    if ((sum & 15U) > 9U || (PSW & AC) != 0) {
        sum += 6U;
    }
    if (sum > 255U || (PSW & CY) != 0 || (sum & 0xF0U) > 0x90U) {
        sum += 0x60U;
    }
    set_carry(sim, sum > 255U || (PSW & CY) != 0);
    ACC = (uint8_t)sum;
}

static void multiply(struct sim8051 *sim)
{
    unsigned product = ACC * (unsigned)B_REG;

    ACC = (uint8_t)product;
    B_REG = (uint8_t)(product >> 8);
    PSW = (uint8_t)((PSW & ~(CY | OV)) | (product > 255U ? OV : 0));
}

static void divide(struct sim8051 *sim)
{
    uint8_t a = ACC;
    uint8_t b = B_REG;

    PSW = (uint8_t)((PSW & ~(CY | OV)) | (b == 0 ? OV : 0));
    ACC = b == 0 ? 0xFFU : (uint8_t)(a / b);
    B_REG = b == 0 ? 0xFFU : (uint8_t)(a % b);
}

/* Columns 0 to 3, and those of column 4 that are no operands: jumps, bits, moves, the accumulator.
 * */
static void step_odd(struct sim8051 *sim, uint8_t op)
{
    uint16_t dptr = (uint16_t)((DPH << 8) | DPL);
    uint8_t old = ACC;
    uint16_t to;

    if ((op & 15U) == 1U) { /* AJMP and ACALL */
        to = fetch(sim);
        to = (uint16_t)((sim->pc & 0xF800U) | ((op & 0xE0U) << 3) | to);
        if ((op & 0x10U) != 0) {
            call(sim, to);
        } else {
            sim->pc = to;
        }
        return;
    }
    switch (op) {
    case 0x00: break;
    case 0x02: to = (uint16_t)(fetch(sim) << 8); sim->pc = (uint16_t)(to | fetch(sim)); break;
    case 0x12: to = (uint16_t)(fetch(sim) << 8); to |= fetch(sim); call(sim, to); break;
    case 0x22: ret(sim); break;
    case 0x32: ret(sim); sim->in_interrupt = 0; break;
    case 0x03: ACC = (uint8_t)((old >> 1) | (old << 7)); break;
    case 0x13: ACC = (uint8_t)((old >> 1) | (PSW & CY)); set_carry(sim, old & 1U); break;
    case 0x23: ACC = (uint8_t)((old << 1) | (old >> 7)); break;
    case 0x33: ACC = (uint8_t)((old << 1) | ((PSW & CY) >> 7)); set_carry(sim, old >> 7); break;
    case 0x04: ACC++; break;
    case 0x14: ACC--; break;
    case 0x40: jump_if(sim, PSW & CY); break;
    case 0x50: jump_if(sim, !(PSW & CY)); break;
    case 0x60: jump_if(sim, ACC == 0); break;
    case 0x70: jump_if(sim, ACC != 0); break;
    case 0x73: sim->pc = (uint16_t)(dptr + ACC); break;
    case 0x80: jump_if(sim, 1); break;
    case 0x83: ACC = sim->code[(uint16_t)(sim->pc + ACC)]; break;
    case 0x93: ACC = sim->code[(uint16_t)(dptr + ACC)]; break;
    case 0x84: divide(sim); break;
    case 0xA4: multiply(sim); break;
    case 0x90: DPH = fetch(sim); DPL = fetch(sim); break;
    case 0xA3: DPL++; DPH = (uint8_t)(DPH + (DPL == 0)); break;
    case 0xB3: PSW ^= CY; break;
    case 0xC3: set_carry(sim, 0); break;
    case 0xD3: set_carry(sim, 1); break;
    case 0xC0: push(sim, read_direct(sim, fetch(sim))); break;
    case 0xD0: to = fetch(sim); write_direct(sim, (uint8_t)to, pop(sim)); break;
    case 0xC4: ACC = (uint8_t)((old << 4) | (old >> 4)); break;
    case 0xD4: decimal_adjust(sim); break;
    case 0xE0: ACC = *external(sim, dptr); break;
    case 0xF0: *external(sim, dptr) = ACC; break;
    case 0xE2: case 0xE3: ACC = *external(sim, paged(sim, op)); break;
    case 0xF2: case 0xF3: *external(sim, paged(sim, op)) = ACC; break;
    case 0xE4: ACC = 0; break;
    case 0xF4: ACC = (uint8_t)~old; break;
    default: step_bit(sim, op, fetch(sim)); break;
    }
}

/* Columns 4 to F: one operation on one operand. */
static void step_regular(struct sim8051 *sim, uint8_t op)
{
    unsigned row = op >> 4;
    unsigned column = op & 15U;
    uint8_t value;

    switch (row) {
    case 0x0: case 0x1:
        value = (uint8_t)(operand(sim, column) + (row == 0 ? 1U : 255U));
        store(sim, column, value);
        break;
    case 0x2: add(sim, operand(sim, column), 0); break;
    case 0x3: add(sim, operand(sim, column), (PSW & CY) != 0); break;
    case 0x4: case 0x5: case 0x6: ACC = logic(row, ACC, operand(sim, column)); break;
    case 0x7:
        if (column == 4) {
            ACC = fetch(sim);
        } else {
            store(sim, column, fetch(sim));
        }
        break;
    case 0x8: value = operand(sim, column); write_direct(sim, fetch(sim), value); break;
    case 0x9: subtract(sim, operand(sim, column)); break;
    case 0xA: store(sim, column, read_direct(sim, fetch(sim))); break;
    case 0xB:
        value = column < 6 ? ACC : operand(sim, column);
        compare_jump(sim, value, column == 5 ? operand(sim, 5) : fetch(sim));
        break;
    case 0xC: value = operand(sim, column); store(sim, column, ACC); ACC = value; break;
    case 0xD:
        if (column < 8) { /* XCHD */
            value = operand(sim, column);
            store(sim, column, (uint8_t)((value & 0xF0U) | (ACC & 15U)));
            ACC = (uint8_t)((ACC & 0xF0U) | (value & 15U));
        } else {
            value = (uint8_t)(operand(sim, column) - 1U);
            store(sim, column, value);
            jump_if(sim, value != 0);
        }
        break;
    case 0xE: ACC = operand(sim, column); break;
    default: store(sim, column, ACC); break;
    }
}

static void execute(struct sim8051 *sim, uint8_t op)
{
    static const char odd4[] = {0x04, 0x14, (char)0x84, (char)0xA4, (char)0xC4, (char)0xD4,
                                (char)0xE4, (char)0xF4};
    unsigned column = op & 15U;

    if (op == 0xA5U) {
        sim->stop = SIM_OPCODE;
    } else if (op == 0x05U || op == 0x15U || op == 0x75U || op == 0x85U || op == 0xC5U ||
               op == 0xD5U || ((column == 2 || column == 3) && op >= 0x42U && op <= 0x63U)) {
        step_memory(sim, op, fetch(sim));
    } else if (column < 4 || (column == 4 && memchr(odd4, (char)op, sizeof odd4) != NULL)) {
        step_odd(sim, op);
    } else {
        step_regular(sim, op);
    }
}

/* Timer 0 counts every 12 clocks in mode 1. */
static void timer(struct sim8051 *sim)
{
    uint64_t ticks = (sim->clocks - sim->timer_from) / 12U;
    uint32_t count = (uint32_t)((TH0 << 8) | TL0);

    sim->timer_from += ticks * 12U;
    if ((TCON & 0x10U) == 0) {
        return;
    }
    count += (uint32_t)ticks;
    if (count > 0xFFFFU) {
        TCON |= 0x20U;
    }
    TL0 = (uint8_t)count;
    TH0 = (uint8_t)(count >> 8);
}

static void interrupt(struct sim8051 *sim)
{
    if ((IE & 0x82U) == 0x82U && (TCON & 0x20U) != 0 && !sim->in_interrupt) {
        TCON &= 0xDFU;
        sim->in_interrupt = 1;
        sim->interrupt_start = sim->clocks;
        call(sim, 0x000BU);
        sim->clocks += sim->fast ? 16U : 24U;
    }
}

void sim_reset(struct sim8051 *sim)
{
    memset(sim->xdata, 0xA5, sizeof sim->xdata);
    memset(sim->iram, 0xA5, sizeof sim->iram);
    memset(sim->sfr, 0, sizeof sim->sfr);
    SP = 7;
    CKCON = 1;
    sim->pc = 0;
    sim->highest = 7;
    sim->stop = SIM_RUNS;
    sim->clocks = 0;
    sim->instructions = 0;
    sim->timer_from = 0;
    sim->interrupt_clocks = 0;
    sim->spi_ready = 0;
    sim->in_interrupt = 0;
}

void sim_run(struct sim8051 *sim, uint64_t clocks)
{
    uint64_t end = sim->clocks + clocks;

    while (sim->stop == SIM_RUNS && sim->clocks < end) {
        uint16_t at = sim->pc;
        uint8_t op = fetch(sim);
        uint8_t was_inside = sim->in_interrupt;
        unsigned column = op & 15U;
        unsigned cost = (unsigned)(cycles[sim->fast][op >> 4][column < 8 ? column : 8] - '0');

        if (cost == 8) {
            cost = 2U + (CKCON & 7U);
        }
        execute(sim, op);
        sim->clocks += sim->fast ? cost * 4U : cost * 12U;
        sim->instructions++;
        if (sim->pc == at && (IE & 0x80U) == 0) {
            sim->stop = sim->stop == SIM_RUNS ? SIM_HALTED : sim->stop;
        }
        timer(sim);
        if (was_inside && !sim->in_interrupt) {
            sim->interrupt_clocks += sim->clocks - sim->interrupt_start;
        } else {
            interrupt(sim);
        }
    }
}

int sim_load(struct sim8051 *sim, const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned count, address, type;

    if (file == NULL) {
        return -1;
    }
    while (fscanf(file, ":%2x%4x%2x", &count, &address, &type) == 3) {
        unsigned byte;

        for (; count > 0; count--, address++) {
            if (fscanf(file, "%2x", &byte) != 1) {
                fclose(file);
                return -1;
            }
            if (type == 0) {
                sim->code[address & 0xFFFFU] = (uint8_t)byte;
            }
        }
        if (fscanf(file, "%2x ", &byte) != 1) {
            break;
        }
    }
    fclose(file);
    return 0;
}
