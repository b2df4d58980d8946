/* SPDX-License-Identifier: Apache-2.0 */
/* SD Physical Layer Simplified Specification, chapter 7 (SPI mode). */
#include "sd_spi.h"

#include <stddef.h>

#include "cc1010.h"
#include "nandwich/space.h"

#define SELECT() (P3 &= 0xEF)
#define DESELECT() (P3 |= 0x10)

#define TOKEN_DATA 0xFEU

static uint8_t exchange(uint8_t out)
{
    SPDR = out;
    while ((SPSR & 0x80U) == 0) {
    }
    return SPDR;
}

/* Sends 512 bytes from `from` (in DPTR), 18 cycles each beside the card's own time. In C the
 * pointer would live in external RAM and take twice as long. */
static void send_block(const uint8_t NW_XDATA *from) __naked
{
    (void)from;
    __asm
        mov r7, #2
        mov r6, #0
    00001$:
        movx a, @dptr
        mov _SPDR, a
        inc dptr
    00002$:
        mov a, _SPSR
        jnb acc.7, 00002$
        djnz r6, 00001$
        djnz r7, 00001$
        ret
    __endasm;
}

/* Waits for a byte other than `idle`; gives the last one seen. */
static uint8_t wait_while(uint8_t idle)
{
    uint16_t left = 0xFFFFU;
    uint8_t in = exchange(0xFFU);

    while (in == idle && left > 0) {
        in = exchange(0xFFU);
        left--;
    }
    return in;
}

/* Sends a command and gives its R1 answer; 0xFF when none came. */
static uint8_t command(uint8_t number, uint32_t argument)
{
    uint8_t left = 16;
    uint8_t in;

    exchange(0xFFU);
    exchange((uint8_t)(0x40U | number));
    exchange((uint8_t)(argument >> 24));
    exchange((uint8_t)(argument >> 16));
    exchange((uint8_t)(argument >> 8));
    exchange((uint8_t)argument);
    exchange(0x95U); /* right for CMD0, the only one that needs it */
    do {
        in = exchange(0xFFU);
        left--;
    } while ((in & 0x80U) != 0 && left > 0);
    return in;
}

static int sd_read(struct nw_block_req *req)
{
    uint8_t NW_XDATA *to = (uint8_t NW_XDATA *)req->data;
    uint16_t left = 512;

    if (req->data == NULL || req->count != 1) {
        return NW_ERR_UNSUPPORTED;
    }
    SELECT();
    if (command(17, req->sector << 9) != 0 || wait_while(0xFFU) != TOKEN_DATA) {
        DESELECT();
        return NW_ERR_IO;
    }
    for (; left > 0; left--) {
        *to++ = exchange(0xFFU);
    }
    exchange(0xFFU);
    exchange(0xFFU);
    DESELECT();
    req->done = 1;
    return NW_OK;
}

static int sd_write(struct nw_block_req *req)
{
    uint8_t answer;

    if (req->data == NULL || req->count != 1) {
        return NW_ERR_UNSUPPORTED;
    }
    SELECT();
    if (command(24, req->sector << 9) != 0) {
        DESELECT();
        return NW_ERR_IO;
    }
    exchange(TOKEN_DATA);
    send_block((const uint8_t NW_XDATA *)req->data);
    exchange(0xFFU);
    exchange(0xFFU);
    answer = exchange(0xFFU) & 0x1FU;
    if (wait_while(0x00U) == 0x00U) {
        answer = 0;
    }
    DESELECT();
    if (answer != 0x05U) {
        return answer == 0x0DU ? NW_ERR_PROGRAM : NW_ERR_IO;
    }
    req->done = 1;
    return NW_OK;
}

static int sd_nothing(struct nw_block_req *req)
{
    (void)req;
    return NW_OK;
}

static const struct nw_block_ops sd_ops = {sd_read, sd_write, sd_nothing, sd_nothing, NULL};

int sd_open(struct nw_block *block, uint32_t sectors)
{
    uint16_t tries = 1000;
    uint8_t clocks = 10;

    DESELECT();
    for (; clocks > 0; clocks--) {
        exchange(0xFFU);
    }
    SELECT();
    if (command(0, 0) != 0x01U) {
        DESELECT();
        return NW_ERR_IO;
    }
    do {
        command(55, 0);
        tries--;
    } while (command(41, 0) != 0 && tries > 0);
    DESELECT();
    block->ops = &sd_ops;
    block->context = NULL;
    block->sectors = sectors;
    block->sector_bytes = 512;
    block->flags = NW_BLOCK_PERSISTENT;
    block->stats = NULL;
    return tries > 0 ? NW_OK : NW_ERR_IO;
}
