/* SPDX-License-Identifier: Apache-2.0 */
/* What all models of parts on a bus share. */
#include "bus.h"

#include <stdio.h>
#include <string.h>

void bus_violation(struct bus *bus, const char *why, uint32_t detail)
{
    if (bus->violations++ == 0) {
        (void)snprintf(bus->why, sizeof bus->why, "%s (0x%x) at bus byte %llu", why,
                       (unsigned)detail, (unsigned long long)bus->bytes);
    }
}

static void perform(struct bus *bus)
{
    const struct nw_misuse *misuse = bus->nand != NULL ? nw_nand_misuse(bus->nand) : NULL;

    (void)bus->perform(bus);
    bus->pending = 0;
    if (misuse != NULL && misuse->error != 0) {
        char text[120];

        (void)nw_misuse_text(misuse, text, sizeof text);
        bus_violation(bus, text, 0);
        nw_nand_forgive(bus->nand);
    }
}

static void power_off(struct bus *bus)
{
    struct nw_cut cut = {.phase = NW_CUT_INSIDE};

    bus->off = true;
    if (bus->pending != 0) {
        if (bus->nand != NULL) {
            nw_nand_cut(bus->nand, &cut);
        }
        perform(bus);
    }
}

bool bus_byte(struct bus *bus, uint8_t lines)
{
    uint32_t byte_ps = bus->byte_ps != 0 ? bus->byte_ps : BUS_BYTE_NS * 1000U;

    if (!bus->off && bus->bytes == bus->cut_at) {
        power_off(bus);
    }
    if (bus->off) {
        return false;
    }
    bus->bytes++;
    bus->rest_ps += byte_ps / lines;
    bus->now_ns += bus->rest_ps / 1000U;
    bus->rest_ps %= 1000U;
    return true;
}

bool bus_transfer(struct bus *bus, int *result)
{
    *result = NW_OK;
    if (bus->fail_at != 0 && --bus->fail_at == 0) {
        *result = NW_ERR_IO;
    }
    return *result == NW_OK || bus->fail_acts;
}

int bus_wait(struct bus *bus, uint32_t us)
{
    if (us == 0 || us > 60000U) {
        bus_violation(bus, "wait out of range", us);
    }
    bus->waits++;
    bus->now_ns += us * 1000ULL;
    return bus->off ? (int)NW_ERR_POWER : (int)NW_OK;
}

void bus_work(struct bus *bus, uint8_t pending, uint32_t us)
{
    bus->pending = pending;
    bus->begun[pending]++;
    bus->busy_us += us;
    bus->ready_ns = bus->now_ns + us * 1000ULL;
}

bool bus_is_busy(struct bus *bus)
{
    if (bus->pending != 0 && !bus->stuck && bus->now_ns >= bus->ready_ns) {
        perform(bus);
    }
    return bus->pending != 0;
}

void bus_power_up(struct bus *bus)
{
    bus->off = false;
    bus->cut_at = BUS_NEVER;
    bus->pending = 0;
    if (bus->nand != NULL) {
        nw_nand_power_up(bus->nand);
    }
}

static int model_select(struct nw_spi *spi, uint8_t on)
{
    struct spi_model *model = spi->context;

    if (model->bus.off) {
        model->selected = model->held = model->driving = false;
        return NW_ERR_POWER;
    }
    if (!model->raw && (on > NW_SPI_SELECT || on == (model->selected ? 1U : 0U))) {
        bus_violation(&model->bus, "selected twice, or deselected twice", on);
    }
    if (on == NW_SPI_END && (!model->held || model->driving)) {
        bus_violation(&model->bus, "the bus given back that was not taken, or is held", on);
    }
    if (on == 0 && model->selected && model->finish != NULL && !model->silent) {
        model->finish(model, model->index);
    }
    model->selected = on == NW_SPI_SELECT;
    model->held = on != NW_SPI_END;
    model->driving = model->driving && model->held;
    model->index = 0;
    return NW_OK;
}

static int move(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length,
                uint8_t lines)
{
    struct spi_model *model = spi->context;
    int result;

    model->lines = lines;
    if (length == 0 || !model->held) {
        bus_violation(&model->bus, "a transfer of nothing, or to nobody", length);
    }
    model->driving = model->raw && model->selected;
    if (!bus_transfer(&model->bus, &result)) {
        return result;
    }
    for (uint16_t i = 0; i < length; i++) {
        uint8_t byte = out != NULL ? out[i] : 0xFFU;

        if (!bus_byte(&model->bus, lines)) {
            return NW_ERR_POWER;
        }
        if (model->index < sizeof model->head) {
            model->head[model->index] = byte;
        }
        byte = model->silent ? model->line : model->exchange(model, model->index++, byte);
        if (in != NULL) {
            in[i] = byte;
        }
    }
    return result;
}

static int model_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    return move(spi, out, in, length, 1);
}

static int model_read4(struct nw_spi *spi, uint8_t *in, uint16_t length)
{
    return move(spi, NULL, in, length, 4);
}

static int model_wait(struct nw_spi *spi, uint16_t us)
{
    struct spi_model *model = spi->context;

    return bus_wait(&model->bus, us);
}

void spi_model_open(struct spi_model *model)
{
    static const struct nw_spi_ops ops = {model_select, model_transfer, model_wait, NULL, NULL};

    model->bus.cut_at = BUS_NEVER;
    model->spi = (struct nw_spi){.ops = &ops, .context = model, .khz = 20000};
}

void spi_model_widen(struct spi_model *model)
{
    static const struct nw_spi_ops ops = {model_select, model_transfer, model_wait, NULL,
                                          model_read4};

    model->spi.ops = &ops;
}

uint32_t spi_model_address(const struct spi_model *model, uint32_t bytes)
{
    uint32_t address = 0;

    for (uint32_t i = 1; i <= bytes; i++) {
        address = address << 8 | model->head[i];
    }
    return address;
}
