/* SPDX-License-Identifier: Apache-2.0 */
/* A card in SPI mode, byte by byte. */
#include "sd_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/parts.h"

enum pending { NONE, WRITE, DROWSY };

#define BUSY_US 800U

/* Bits of the status (R2), which stay until it is read or the card begins anew. */
#define FAILED 0x04U
#define LOST 0x08U /* the error token has the same */
#define OUT_OF_RANGE 0x80U /* also of a read that goes on behind the last sector */

static struct sd_model *of(struct spi_model *spi)
{
    return (struct sd_model *)spi;
}

static void send(struct sd_model *model, uint32_t byte)
{
    if (model->out_at == model->out_end) {
        model->out_at = 0;
        model->out_end = 0;
    }
    model->out[model->out_end++] = (uint8_t)byte;
}

static uint32_t crc_bits(const uint8_t *data, uint32_t bytes, uint32_t polynomial, uint32_t width)
{
    uint32_t crc = 0;

    for (uint32_t i = 0; i < bytes * 8U; i++) {
        uint32_t bit = (uint32_t)(data[i / 8U] >> (7U - i % 8U)) & 1U;
        uint32_t top = crc >> (width - 1U) & 1U;

        crc = crc << 1 & ((1U << width) - 1U);
        crc ^= top != bit ? polynomial : 0;
    }
    return crc;
}

static void send_data(struct sd_model *model, const uint8_t *data, uint32_t bytes)
{
    uint32_t crc = crc_bits(data, bytes, 0x1021, 16);

    if (model->silent_read) {
        return;
    }
    crc ^= model->corrupt_read ? 1U : 0;
    send(model, 0xFF);
    if (model->lost) {
        model->reading = 0;
        model->lost = false;
        model->status |= LOST;
        send(model, LOST); /* a token, and no data */
        return;
    }
    send(model, 0xFE);
    for (uint32_t i = 0; i < bytes; i++) {
        send(model, data[i]);
    }
    send(model, crc >> 8);
    send(model, crc & 0xFFU);
}

static void send_sector(struct sd_model *model)
{
    uint8_t data[512];
    struct nw_block_req req = {.block = model->block, .sector = model->sector, .count = 1,
                               .data = data};

    if (model->sector >= model->sectors) {
        model->status |= model->reading == 2 ? OUT_OF_RANGE : 0;
        model->reading = 0; /* the end of what was read on and on */
        return;
    }
    (void)nw_block_read(&req);
    model->sector++;
    send_data(model, data, sizeof data);
}

/* Registers are told from their highest bit on; `low` counts as the specification does. */
static void put_bits(uint8_t *csd, uint32_t low, uint32_t bits, uint32_t value)
{
    for (uint32_t i = 0; i < bits; i++) {
        if ((value >> i & 1U) != 0) {
            csd[15U - (low + i) / 8U] |= (uint8_t)(1U << (low + i) % 8U);
        }
    }
}

static void send_csd(struct sd_model *model)
{
    uint8_t csd[16] = {0};

    if (model->type == SD_LARGE) {
        put_bits(csd, 126, 2, model->version != 0 ? model->version : 1U);
        put_bits(csd, 80, 4, 9);
        put_bits(csd, 48, 22, model->sectors / 1024U - 1U);
    } else {
        /* sectors = (size + 1) << (multiplier + 2), blocks of 512 or of 1,024 bytes */
        uint32_t length = model->type == SD_VERSION_2 ? 10 : 9;

        put_bits(csd, 80, 4, model->length != 0 ? model->length : length);
        put_bits(csd, 47, 3, 1);
        put_bits(csd, 62, 12, (model->sectors >> (3U + length - 9U)) - 1U);
    }
    send_data(model, csd, sizeof csd);
}

static int perform(struct bus *bus)
{
    struct sd_model *model = of((struct spi_model *)bus);
    struct nw_block_req req = {.block = model->block, .sector = model->sector, .count = 1,
                               .data = model->payload};

    if (bus->pending == DROWSY || (bus->off && nw_random_below(&model->random, 2) == 0)) {
        return NW_OK;
    }
    model->sector++;
    return nw_block_write(&req);
}

static uint32_t busy_us(const struct sd_model *model)
{
    bool open = model->sector / model->unit_blocks == nw_sdcard_open_sector(model->card);

    return open || model->open_us == 0 ? BUSY_US : model->open_us;
}

static void take_sector(struct sd_model *model)
{
    uint32_t crc = crc_bits(model->in, 512, 0x1021, 16);
    uint8_t response = 0x05;

    model->receiving = false;
    if (model->checksums && crc != ((uint32_t)model->in[512] << 8 | model->in[513])) {
        bus_violation(&model->spi.bus, "a block with a wrong checksum", crc);
        response = 0x0B;
    }
    if (model->refuse != 0 && model->take > 0) {
        model->take--;
    } else if (model->refuse != 0) {
        response = model->refuse;
        model->refuse = 0;
        model->status |= response == 0x0D ? FAILED : 0;
    }
    send(model, 0xE0U | response);
    if (response == 0x05) {
        memcpy(model->payload, model->in, sizeof model->payload);
        bus_work(&model->spi.bus, WRITE, busy_us(model));
    }
    if (model->writing == 24) {
        model->writing = 0;
    }
}

static uint32_t sector_of(struct sd_model *model, uint32_t argument)
{
    if (model->type == SD_LARGE) {
        return argument;
    }
    if (argument % 512U != 0 || argument / 512U >= model->sectors) {
        bus_violation(&model->spi.bus, "an address that is no sector's", argument);
    }
    return argument / 512U;
}

/* The answer to a command that wakes: illegal for cards of another kind. */
static uint32_t wake(struct sd_model *model, uint32_t index, uint32_t argument)
{
    if (index == 55 || index == 41) {
        if (model->type == SD_MMC) {
            return 0x05;
        }
        if (index == 55) {
            model->application = true;
            return model->awake ? 0 : 1;
        }
        if (model->type == SD_LARGE && (argument & 0x40000000U) == 0) {
            return 1; /* a large card never gets ready for a host that knows none */
        }
    } else if (model->type != SD_MMC) {
        return 0x05;
    }
    if (model->tries > 0) {
        model->tries--;
        return 1;
    }
    model->awake = true;
    return 0;
}

/* Commands of a card that is being woken, and of one that is awake; false: none of these. */
static bool answer_waking(struct sd_model *model, uint32_t index, uint32_t argument)
{
    uint32_t response = model->awake ? 0 : 1;
    bool application = model->application;

    model->application = false;
    send(model, 0xFF); /* it takes its time */
    switch (index) {
    case 0:
        model->awake = false;
        model->checksums = false;
        model->writing = 0;
        model->reading = 0;
        model->status = 0;
        send(model, 1);
        return true;
    case 8:
        if (model->type >= SD_VERSION_1) {
            send(model, response | 4U);
            return true;
        }
        send(model, response);
        send(model, 0);
        send(model, 0);
        send(model, argument >> 8 & 0x0FU);
        send(model, argument & 0xFFU);
        return true;
    case 1:
    case 41:
    case 55:
        if (index == 41 && !application) {
            bus_violation(&model->spi.bus, "an application command without its prefix", index);
        }
        send(model, wake(model, index, argument));
        if (model->drowsy_us != 0 && index != 55) {
            bus_work(&model->spi.bus, DROWSY, model->drowsy_us);
        }
        return true;
    case 59:
        model->checksums = (argument & 1U) != 0;
        send(model, response);
        return true;
    case 58:
        send(model, response);
        send(model, model->type == SD_LARGE ? 0xC0 : 0x80);
        send(model, 0xFF);
        send(model, 0x80);
        send(model, 0);
        return true;
    default: return false;
    }
}

static void answer(struct sd_model *model, uint32_t index, uint32_t argument)
{
    if (answer_waking(model, index, argument)) {
        return;
    }
    if (!model->awake) {
        bus_violation(&model->spi.bus, "a command to a card that is not awake", index);
    }
    send(model, model->awake ? 0 : 1);
    switch (index) {
    case 9: send_csd(model); break;
    case 12: model->reading = 0; model->writing = 0; break;
    case 13:
        send(model, model->status);
        model->status = 0;
        break;
    case 16: break;
    case 17:
    case 18:
        model->sector = sector_of(model, argument);
        model->reading = index == 18 ? 2 : 0;
        send_sector(model);
        break;
    case 24:
    case 25:
        model->sector = sector_of(model, argument);
        model->writing = (uint8_t)index;
        break;
    default: bus_violation(&model->spi.bus, "no such command", index); break;
    }
}

static void take_frame(struct sd_model *model)
{
    uint32_t index = model->frame[0] & 0x3FU;
    uint32_t argument = (uint32_t)model->frame[1] << 24 | (uint32_t)model->frame[2] << 16 |
                        (uint32_t)model->frame[3] << 8 | model->frame[4];

    if ((crc_bits(model->frame, 5, 0x09, 7) << 1 | 1U) != model->frame[5]) {
        bus_violation(&model->spi.bus, "a command with a wrong checksum", index);
    }
    if (index == 0) {
        model->spi_mode = true;
    }
    if (model->spi.bus.pending != 0 && index != 0) {
        bus_violation(&model->spi.bus, "a command to a busy card", index);
    }
    if (index == 12) {
        model->out_at = model->out_end; /* what was on its way is lost */
        send(model, 0x3F);
    }
    answer(model, index, argument);
}

static uint8_t exchange(struct spi_model *spi, uint32_t index, uint8_t out)
{
    struct sd_model *model = of(spi);
    bool busy;
    uint8_t byte = 0xFF;

    (void)index;
    if (!spi->selected || model->absent) {
        return 0xFF;
    }
    busy = bus_is_busy(&spi->bus);
    if (model->out_at < model->out_end) {
        byte = model->out[model->out_at++];
        if (model->out_at == model->out_end && model->reading == 2) {
            send_sector(model);
        }
    } else if (busy) {
        byte = 0;
    }
    if (model->receiving) {
        model->in[model->received++] = out;
        if (model->received == sizeof model->in) {
            take_sector(model);
        }
    } else if (model->framed > 0 || (out & 0xC0U) == 0x40U) {
        model->frame[model->framed++] = out;
        if (model->framed == sizeof model->frame) {
            model->framed = 0;
            take_frame(model);
        }
    } else if (model->writing != 0 && out != 0xFF) {
        if (busy || (out != 0xFE && model->writing == 24) ||
            (out != 0xFC && out != 0xFD && model->writing == 25)) {
            bus_violation(&spi->bus, "a token to a busy card, or another command's", out);
        }
        model->receiving = out != 0xFD;
        model->received = 0;
        if (out == 0xFD) {
            model->writing = 0;
        }
    } else if (out != 0xFF) {
        bus_violation(&spi->bus, "a byte that is no command's", out);
    }
    return byte;
}

void sd_model_power_up(struct sd_model *model)
{
    bus_power_up(&model->spi.bus);
    nw_sdcard_power_up(model->card);
    model->spi_mode = false;
    model->awake = false;
    model->framed = 0;
    model->out_at = 0;
    model->out_end = 0;
    model->reading = 0;
    model->writing = 0;
    model->receiving = false;
    model->tries = 5;
}

void sd_model_open(struct sd_model *model, uint8_t type, uint32_t sectors)
{
    struct nw_part part;
    struct nw_sdcard_config config = {.part = &part, .blocks = sectors};

    memset(model, 0, sizeof *model);
    assert_int_equal(nw_parts_get("MICROSD-8G", &part), NW_OK);
    assert_int_equal(nw_sdcard_open(&model->card, &config), NW_OK);
    model->block = nw_sdcard_block(model->card);
    model->unit_blocks = part.sector_blocks;
    model->type = type;
    model->sectors = sectors;
    nw_random_seed(&model->random, 1);
    model->spi.bus.perform = perform;
    model->spi.exchange = exchange;
    model->spi.raw = true;
    spi_model_open(&model->spi);
    sd_model_power_up(model);
}

void sd_model_close(struct sd_model *model)
{
    bus_expect_clean(&model->spi.bus);
    nw_sdcard_close(model->card);
}
