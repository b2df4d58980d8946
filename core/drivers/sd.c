/* SPDX-License-Identifier: Apache-2.0 */
/* SD and MMC cards in SPI mode: commands, responses, and blocks behind tokens. */
#include "nandwich/driver_sd.h"

#include <stddef.h>
#include <string.h>

#define SECTOR_BYTES 512U

#define GO_IDLE 0U
#define MMC_WAKE 1U
#define INTERFACE 8U /* SD version 2: voltage and a pattern to send back */
#define READ_CSD 9U
#define STOP 12U
#define READ_STATUS 13U
#define SET_LENGTH 16U
#define READ_ONE 17U
#define READ_MANY 18U
#define WRITE_ONE 24U
#define WRITE_MANY 25U
#define SD_WAKE 41U /* behind APPLICATION */
#define APPLICATION 55U
#define READ_OCR 58U
#define CHECKSUMS 59U

#define RESPONSE_IDLE 0x01U
#define RESPONSE_ILLEGAL 0x04U
#define RESPONSE_NONE 0xFFU
#define RESPONSE_TRIES 10U /* bytes; a card answers within 8 */

#define TOKEN_DATA 0xFEU
#define TOKEN_MANY 0xFCU
#define TOKEN_STOP 0xFDU
#define ACCEPTED 0x05U
#define ACCEPTED_MASK 0x1FU
#define REFUSED_CRC 0x0BU

#define PATTERN 0x1AAUL
#define LARGE 0x40000000UL /* host and card may address blocks */

/* What is left to do, in spi->busy: a status to be dropped that tells of an old error or of none,
 * and a write of many sectors that the card waits for more of. */
#define BEHIND_STATUS 0x01U
#define BEHIND_WRITE 0x02U

#define SLOW_KHZ 400U
#define IDLE_TRIES 10U
#define READ_STEPS 15000U /* 20 us apart: 0.3 s */
#define BUSY_STEPS 20000U /* 50 us apart: 1 s */
#define WAKE_STEPS 20U    /* of them between two tries to wake a card */

static void note(struct nw_spi *spi, int result)
{
    if (result < 0 && spi->error >= 0) {
        spi->error = result;
    }
}

/* out NULL: FF; in NULL: forgotten. */
static void transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    if (spi->error >= 0) {
        note(spi, spi->ops->transfer(spi, out, in, length));
    }
}

static uint8_t get(struct nw_spi *spi)
{
    uint8_t byte = 0xFFU;

    transfer(spi, NULL, &byte, 1);
    return byte;
}

/* One step of so many that are left. */
static void wait(struct nw_spi *spi, uint16_t *steps, uint8_t step_us)
{
    if (*steps == 0) {
        note(spi, NW_ERR_BUSY);
    } else {
        *steps = (uint16_t)(*steps - 1U);
        note(spi, spi->ops->wait(spi, step_us));
    }
}

/* Waits until the line is idle (FF), or, with idle 0, until it is not: what came. */
static uint8_t await(struct nw_spi *spi, uint8_t idle, uint16_t *steps, uint8_t step_us)
{
    uint8_t byte = get(spi);

    while (spi->error >= 0 && (byte == 0xFFU) != idle) {
        wait(spi, steps, step_us);
        byte = get(spi);
    }
    return byte;
}

/* While a card is opened all its waits share one second. */
static void wait_ready(struct nw_sd *card)
{
    uint16_t steps = BUSY_STEPS;

    (void)await(card->spi, 1, card->opening != 0 ? &card->steps : &steps, 50);
}

/* CRC-16 with 0x1021, highest bit first, from 0: a byte at a time without a table. */
static uint16_t crc_block(const uint8_t *data, uint16_t length)
{
    uint16_t crc = 0;

    for (uint16_t i = 0; i < length; i++) {
        uint16_t x = (uint16_t)((crc >> 8) ^ data[i]);

        x ^= (uint16_t)(x >> 4);
        crc = (uint16_t)((crc << 8) ^ (uint16_t)(x << 12) ^ (uint16_t)(x << 5) ^ x);
    }
    return crc;
}

/* CRC-7 with 0x09, in the upper seven bits. */
static uint8_t crc_command(const uint8_t *bytes, uint8_t length)
{
    uint8_t crc = 0;

    for (uint8_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (uint8_t bit = 0; bit < 8U; bit++) {
            crc = (uint8_t)((uint8_t)(crc << 1) ^ ((crc & 0x80U) != 0 ? 0x12U : 0U));
        }
    }
    return crc;
}

/* Sends a command to the selected card: its response. */
static uint8_t command(struct nw_sd *card, uint8_t index, uint32_t argument)
{
    struct nw_spi *spi = card->spi;
    uint8_t frame[6];

    frame[0] = (uint8_t)(0x40U | index);
    for (uint8_t i = 1; i < 5U; i++) {
        frame[i] = (uint8_t)(argument >> 24);
        argument <<= 8;
    }
    frame[5] = (uint8_t)(crc_command(frame, 5) | 1U);
    if (index != GO_IDLE && index != STOP) {
        wait_ready(card);
    }
    transfer(spi, frame, NULL, sizeof frame);
    if (index == STOP) {
        (void)get(spi); /* the rest of a byte that was on its way */
    }
    card->response = RESPONSE_NONE;
    for (uint8_t i = 0; i < RESPONSE_TRIES && (card->response & 0x80U) != 0; i++) {
        card->response = get(spi);
    }
    return card->response;
}

/* The same where only 0 is good. */
static void command_well(struct nw_sd *card, uint8_t index, uint32_t argument)
{
    if (command(card, index, argument) != 0) {
        note(card->spi, NW_ERR_IO);
    }
}

/* Asks for the two bytes of status, whose bits stay until they are read: 0, nothing is wrong. */
static uint8_t status(struct nw_sd *card)
{
    uint8_t first = command(card, READ_STATUS, 0);

    return first | get(card->spi);
}

static struct nw_spi *begin(struct nw_sd *card)
{
    struct nw_spi *spi = card->spi;

    spi->error = NW_OK;
    note(spi, spi->ops->select(spi, NW_SPI_SELECT));
    if ((spi->busy & BEHIND_WRITE) != 0) {
        wait_ready(card);
        (void)command(card, STOP, 0);
        wait_ready(card);
    }
    if (spi->busy != 0) {
        (void)status(card);
        spi->busy = spi->error < 0 ? spi->busy : 0;
    }
    return spi;
}

/* Deselects; eight more clocks have the card let go of the line, also behind an error, and only
 * then is the bus given back. */
static int end(struct nw_spi *spi)
{
    int error = spi->error;

    spi->error = NW_OK;
    note(spi, spi->ops->select(spi, NW_SPI_RAISE));
    (void)get(spi);
    note(spi, spi->ops->select(spi, NW_SPI_END));
    if (error < 0) {
        spi->error = error;
    }
    if (spi->error < 0) {
        spi->busy |= BEHIND_STATUS;
    }
    return spi->error;
}

/* A block of data from the card. */
static void read_data(struct nw_spi *spi, uint8_t *data, uint16_t length)
{
    uint8_t sum[2];
    uint16_t steps = READ_STEPS;

    if (await(spi, 0, &steps, 20) != TOKEN_DATA) {
        note(spi, NW_ERR_IO);
    }
    transfer(spi, NULL, data, length);
    transfer(spi, NULL, sum, sizeof sum);
    if (spi->error >= 0 && crc_block(data, length) != (uint16_t)((sum[0] << 8) | sum[1])) {
        note(spi, NW_ERR_IO);
    }
}

static int sd_read(struct nw_block_req *req)
{
    struct nw_sd *card = req->block->context;
    struct nw_spi *spi = begin(card);
    uint8_t *data = req->data;
    uint8_t many = req->count > 1U;

    if (data == NULL) {
        note(spi, NW_ERR_UNSUPPORTED);
    }
    command_well(card, many ? READ_MANY : READ_ONE, req->sector << card->shift);
    if (spi->error < 0) {
        many = 0; /* there is nothing to stop */
    }
    for (; spi->error >= 0 && req->done < req->count; data += SECTOR_BYTES) {
        read_data(spi, data, SECTOR_BYTES);
        if (spi->error >= 0) {
            req->done++;
        }
    }
    if (many) {
        int error = spi->error;

        spi->error = NW_OK; /* the card goes on sending until it is told to stop */
        (void)command(card, STOP, 0);
        spi->error = error < 0 ? error : spi->error;
        if (req->block->sectors - req->sector == req->count) {
            spi->busy |= BEHIND_STATUS; /* it may have gone on, out of its range, and says so */
        }
    }
    return end(spi);
}

/* A block to the card, zeros where data is NULL, until the card has it. */
static void write_data(struct nw_sd *card, uint8_t token, const uint8_t *data)
{
    struct nw_spi *spi = card->spi;
    uint8_t piece[16] = {0};
    uint16_t crc = data != NULL ? crc_block(data, SECTOR_BYTES) : 0;

    wait_ready(card);
    transfer(spi, &token, NULL, 1);
    if (data != NULL) {
        transfer(spi, data, NULL, SECTOR_BYTES);
    } else {
        for (uint16_t i = 0; i < SECTOR_BYTES; i += sizeof piece) {
            transfer(spi, piece, NULL, sizeof piece);
        }
    }
    piece[0] = (uint8_t)(crc >> 8);
    piece[1] = (uint8_t)(crc & 0xFFU);
    transfer(spi, piece, NULL, 2);
    card->response = get(spi) & ACCEPTED_MASK;
    if (card->response != ACCEPTED) {
        note(spi, card->response == REFUSED_CRC ? NW_ERR_IO : NW_ERR_PROGRAM);
    }
    wait_ready(card);
}

/* An error that the card kept for the end. */
static void ask_status(struct nw_sd *card)
{
    if (status(card) != 0) {
        note(card->spi, NW_ERR_PROGRAM);
    }
}

static int write(struct nw_block_req *req, const uint8_t *data)
{
    struct nw_sd *card = req->block->context;
    struct nw_spi *spi = begin(card);
    uint8_t many = req->count > 1U;
    uint8_t token = many ? TOKEN_MANY : TOKEN_DATA;

    command_well(card, many ? WRITE_MANY : WRITE_ONE, req->sector << card->shift);
    if (spi->error < 0) {
        many = 0;
    }
    while (spi->error >= 0 && req->done < req->count) {
        write_data(card, token, data);
        if (spi->error >= 0) {
            req->done++;
            data = data != NULL ? data + SECTOR_BYTES : NULL;
        }
    }
    if (spi->error >= 0) {
        if (many) {
            token = TOKEN_STOP;
            transfer(spi, &token, NULL, 1);
            (void)get(spi);
        }
        ask_status(card);
    } else if (many) {
        spi->busy = BEHIND_WRITE;
    }
    if (spi->error == NW_ERR_PROGRAM) {
        req->done = 0; /* also those may be meant that the card took into its buffer */
    }
    return end(spi);
}

static int sd_write(struct nw_block_req *req)
{
    return req->data == NULL ? (int)NW_ERR_UNSUPPORTED : write(req, req->data);
}

static int sd_trim(struct nw_block_req *req)
{
    return write(req, NULL);
}

static int sd_sync(struct nw_block_req *req)
{
    struct nw_sd *card = req->block->context;

    (void)begin(card);
    ask_status(card);
    return end(card->spi);
}

static const struct nw_block_ops ops = {
    .read = sd_read,
    .write = sd_write,
    .trim = sd_trim,
    .sync = sd_sync,
};

/* Four bytes behind a response. */
static uint32_t get_word(struct nw_spi *spi)
{
    uint32_t word = 0;

    for (uint8_t i = 0; i < 4U; i++) {
        word = (word << 8) | get(spi);
    }
    return word;
}

/* Repeats the command that starts the card until it has started. */
static int wake(struct nw_sd *card)
{
    struct nw_spi *spi = card->spi;
    uint32_t argument = 0;
    uint8_t index = SD_WAKE;

    wait_ready(card); /* the processor may have begun anew in a write, which CMD0 would tear */
    card->opening = 1;
    card->steps = BUSY_STEPS;
    if (spi->error == NW_ERR_BUSY) {
        spi->error = NW_OK; /* a line at 0, or a card in the middle of a read: its answer tells */
    }
    for (uint8_t i = 0; command(card, GO_IDLE, 0) != RESPONSE_IDLE; i++) {
        if (i == IDLE_TRIES || spi->error < 0) {
            return (uint8_t)(card->response + 1U) <= 1U ? NW_ERR_NOT_FOUND : NW_ERR_IO;
        }
    }
    if ((command(card, INTERFACE, PATTERN) & RESPONSE_ILLEGAL) == 0) {
        if ((get_word(spi) & 0xFFFU) != PATTERN) {
            return NW_ERR_UNSUPPORTED;
        }
        argument = LARGE;
    }
    (void)command(card, CHECKSUMS, 1);
    while (spi->error >= 0) {
        uint8_t response = RESPONSE_ILLEGAL;

        if (index == SD_WAKE && (command(card, APPLICATION, 0) & RESPONSE_ILLEGAL) == 0) {
            response = command(card, SD_WAKE, argument);
        } else if (index != SD_WAKE) {
            response = command(card, MMC_WAKE, 0);
        }
        if (response == 0) {
            return NW_OK;
        }
        if ((response & RESPONSE_ILLEGAL) != 0) {
            index = MMC_WAKE; /* a card without application commands: MMC */
        }
        for (uint8_t i = 0; i < WAKE_STEPS; i++) {
            wait(spi, &card->steps, 50);
        }
    }
    return spi->error;
}

/* Size and addressing. */
static int describe(struct nw_sd *card)
{
    struct nw_spi *spi = card->spi;
    uint8_t csd[16];
    uint32_t size;

    if ((command(card, READ_OCR, 0) & (uint8_t)~RESPONSE_IDLE) != 0) { /* QEMU's is idle here */
        note(spi, NW_ERR_IO);
    }
    card->shift = (get_word(spi) & LARGE) != 0 ? 0 : 9;
    if (card->shift != 0) {
        command_well(card, SET_LENGTH, SECTOR_BYTES);
    }
    command_well(card, READ_CSD, 0);
    read_data(spi, csd, sizeof csd);
    if (spi->error < 0) {
        return spi->error;
    }
    csd[5] &= 15U;
    if (card->shift == 0 ? csd[0] >> 6 != 1U : (uint8_t)(csd[5] - 9U) > 2U) {
        return NW_ERR_UNSUPPORTED;
    }
    if (card->shift == 0) {
        size = ((uint32_t)(csd[7] & 0x3FU) << 16 | (uint32_t)csd[8] << 8 | csd[9]) + 1U;
        card->block.sectors = size << 10;
    } else {
        size = ((uint32_t)(csd[6] & 3U) << 10 | (uint32_t)csd[7] << 2 | csd[8] >> 6) + 1U;
        card->block.sectors = size << (((csd[9] & 3U) << 1 | csd[10] >> 7) + 2U +
                                       csd[5] - 9U);
    }
    return NW_OK;
}

static void set_clock(struct nw_spi *spi, uint32_t khz)
{
    if (spi->ops->clock != NULL && spi->error >= 0 && khz != 0) {
        note(spi, spi->ops->clock(spi, khz));
    }
}

int nw_sd_open(struct nw_sd *card, struct nw_spi *spi)
{
    int result;

    memset(card, 0, sizeof *card);
    card->spi = spi;
    card->block.ops = &ops;
    card->block.context = card;
    card->block.sector_bytes = SECTOR_BYTES;
    card->block.flags = NW_BLOCK_PERSISTENT;
    spi->error = NW_OK;
    spi->busy = 0;
    note(spi, spi->ops->select(spi, NW_SPI_RAISE));
    set_clock(spi, SLOW_KHZ);
    transfer(spi, NULL, NULL, 10); /* 74 clocks and more, not selected: SPI mode */
    note(spi, spi->ops->select(spi, NW_SPI_SELECT));
    result = wake(card);
    if (result == NW_OK) {
        set_clock(spi, spi->khz);
        result = describe(card);
    }
    card->opening = 0;
    (void)end(spi);
    return spi->error < 0 ? spi->error : result;
}
