/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of an STM32F103, after ST RM0008: as much as examples/firmware/board needs. */
#include "stm32f103_model.h"

#include <stddef.h>
#include <string.h>

#define SELECT_PIN 4U
#define MILLISECOND 1000000U
#define HEARD_NS (20U * MILLISECOND)
#define HEARD_EACH_NS (200U * MILLISECOND)

static uint64_t *clock_of(struct stm32f103 *chip)
{
    return &chip->part->bus.now_ns;
}

void stm32f103_start(struct stm32f103 *chip)
{
    struct spi_model *part = chip->part;
    const char *heard = chip->heard;
    void (*say)(char letter) = chip->say;
    uint32_t strange = chip->strange, strange_at = chip->strange_at;

    memset(chip, 0, sizeof *chip);
    chip->part = part;
    chip->heard = heard;
    chip->say = say;
    chip->strange = strange;
    chip->strange_at = strange_at;
    chip->heard_ns = *clock_of(chip) + HEARD_NS;
    part->selected = false;
    part->held = part->raw; /* a pin tells the line, and not who has the bus */
}

void stm32f103_spend(struct stm32f103 *chip, uint32_t instructions)
{
    chip->picoseconds += (uint64_t)instructions * INSTRUCTION_PS;
    *clock_of(chip) += chip->picoseconds / 1000U;
    chip->picoseconds %= 1000U;
    if (chip->watching && *clock_of(chip) >= chip->watch_ns) {
        chip->reset = true;
    }
}

bool stm32f103_sleep(struct stm32f103 *chip)
{
    if (chip->ticking && *clock_of(chip) < chip->tick_ns) {
        *clock_of(chip) = chip->tick_ns;
    }
    return chip->ticking;
}

bool stm32f103_tick_is_due(const struct stm32f103 *chip)
{
    return chip->ticking && chip->part->bus.now_ns >= chip->tick_ns;
}

void stm32f103_take_tick(struct stm32f103 *chip)
{
    chip->tick_ns += MILLISECOND;
    chip->ticks++;
}

/* Asking goes on until the timer ends or a tick comes, in one step of the clock. */
static uint32_t read_timer(struct stm32f103 *chip)
{
    uint64_t until = chip->timer_ns;

    if (chip->timer_ns == 0) {
        return 0;
    }
    if (chip->ticking && chip->tick_ns < until) {
        until = chip->tick_ns;
    }
    if (*clock_of(chip) < until) {
        *clock_of(chip) = until;
    }
    return *clock_of(chip) >= chip->timer_ns ? 1 : 0;
}

static bool hears(struct stm32f103 *chip)
{
    return chip->heard != NULL && *chip->heard != '\0' && *clock_of(chip) >= chip->heard_ns;
}

static uint32_t hear(struct stm32f103 *chip)
{
    if (!hears(chip)) {
        return 0;
    }
    chip->heard_ns += HEARD_EACH_NS;
    return (uint8_t)*chip->heard++;
}

static uint32_t *plain(struct stm32f103 *chip, uint32_t address)
{
    static const uint32_t known[] = {
        0x40000028, 0x40003004, 0x40003008, 0x40010800, 0x40010804, 0x40012408, 0x40013000,
        0x40013808, 0x4001380C, 0x40021000, 0x40021004, 0x40021018, 0x4002101C, 0x40022000,
        0xE000E010, 0xE000E014, 0xE000E018,
    };

    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i] == address) {
            return &chip->plain[i];
        }
    }
    if (chip->strange++ == 0) {
        chip->strange_at = address;
    }
    return &chip->plain[63];
}

uint32_t stm32f103_read(struct stm32f103 *chip, uint32_t address)
{
    switch (address) {
    case 0x40000010: return read_timer(chip);
    case 0x4001244C: return chip->ticks * 37U & 0xFFFU; /* the sensor: what a test can foretell */
    case 0x40013008: return 2U | (chip->has_received ? 1U : 0);
    case 0x4001300C: chip->has_received = false; return chip->received;
    case 0x40013800: return 0xC0U | (hears(chip) ? 0x20U : 0);
    case 0x40013804: return hear(chip);
    /* What is switched on is ready at once. */
    case 0x40021000: return *plain(chip, address) | (*plain(chip, address) & 0x01010000U) << 1;
    case 0x40021004: return *plain(chip, address) | (*plain(chip, address) & 3U) << 2;
    default: break;
    }
    return *plain(chip, address);
}

static void send(struct stm32f103 *chip, uint8_t out)
{
    struct spi_model *part = chip->part;

    (void)part->spi.ops->transfer(&part->spi, &out, &chip->received, 1);
    chip->has_received = true;
}

static void write_watchdog(struct stm32f103 *chip, uint32_t value)
{
    chip->watching = chip->watching || value == 0xCCCCU;
    if (value == 0xCCCCU) {
        uint32_t ticks = *plain(chip, 0x40003008) + 1U;

        chip->watch_ms = ticks * (4U << *plain(chip, 0x40003004)) / 40U;
    }
    if (value == 0xCCCCU || value == 0xAAAAU) {
        chip->watch_ns = *clock_of(chip) + (uint64_t)chip->watch_ms * MILLISECOND;
    }
}

void stm32f103_write(struct stm32f103 *chip, uint32_t address, uint32_t value)
{
    switch (address) {
    case 0x40000000: chip->timer_ns = *clock_of(chip) + (chip->timer_us + 1U) * 1000U; return;
    case 0x40000010: chip->timer_ns = 0; return;
    case 0x40000014: return;
    case 0x4000002C: chip->timer_us = (uint16_t)value; return;
    case 0x40003000: write_watchdog(chip, value); return;
    case 0x40010810:
        if ((value & 1U << (SELECT_PIN + 16U)) != 0) {
            (void)chip->part->spi.ops->select(&chip->part->spi, 1);
        } else if ((value & 1U << SELECT_PIN) != 0 && chip->part->selected) {
            (void)chip->part->spi.ops->select(&chip->part->spi,
                                              chip->part->raw ? NW_SPI_RAISE : NW_SPI_END);
        }
        return;
    case 0x4001300C: send(chip, (uint8_t)value); return;
    case 0x40013804: chip->say((char)value); return;
    case 0xE000E010:
        chip->ticking = (value & 3U) == 3U;
        chip->tick_ns = *clock_of(chip) + MILLISECOND;
        break;
    case 0xE000ED0C: chip->reset = value == 0x05FA0004U; return;
    default: break;
    }
    *plain(chip, address) = value;
}
