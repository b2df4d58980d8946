/* SPDX-License-Identifier: Apache-2.0 */
/* One command on a serial bus, and waiting for a part with a limit. */
#include "spi.h"

#include <stddef.h>

#define READ_FOUR 0x6BU
#define HEAD_BYTES 8U /* a code, up to four bytes of address, up to three without meaning */

static void note(struct nw_spi *spi, int result)
{
    if (result < 0 && spi->error >= 0) {
        spi->error = result;
    }
}

/* What follows the head of a command. */
static int move(struct nw_spi *spi, uint16_t command, uint8_t *data, uint16_t length)
{
    uint8_t *in = (command & SPI_IN) != 0 ? data : NULL;

    return (command & 0xFFU) == READ_FOUR
               ? spi->ops->read4(spi, data, length)
               : spi->ops->transfer(spi, in != NULL ? NULL : data, in, length);
}

void nw_spi_run(struct nw_spi *spi, uint16_t command, uint32_t address, uint8_t *data,
                uint16_t length)
{
    uint8_t head[HEAD_BYTES] = {0}; /* also what has no meaning is sent the same each time */
    uint8_t addressed = (command >> 8) & 7U;
    int result;
    int ended;

    if (spi->error < 0) {
        return;
    }
    if ((command & SPI_FOUR) != 0 && spi->ops->read4 != NULL) {
        command = (uint16_t)((command & 0xFF00U) | READ_FOUR);
    }
    head[0] = (uint8_t)(command & 0xFFU);
    for (uint8_t i = addressed; i > 0; i--) {
        head[i] = (uint8_t)(address & 0xFFU);
        address >>= 8;
    }
    result = spi->ops->select(spi, NW_SPI_SELECT);
    if (result >= 0) {
        addressed = (uint8_t)(addressed + 1U + ((command >> 11) & 7U));
        result = spi->ops->transfer(spi, head, NULL, addressed);
    }
    if (result >= 0 && length > 0) {
        result = move(spi, command, data, length);
    }
    ended = spi->ops->select(spi, NW_SPI_END); /* or it would take the next command for data */
    note(spi, result < 0 ? result : ended);
}

void nw_spi_code(struct nw_spi *spi, uint8_t code, uint16_t us)
{
    nw_spi_run(spi, code, 0, NULL, 0);
    if (spi->error >= 0) {
        note(spi, spi->ops->wait(spi, us));
    }
}

uint8_t nw_spi_ready(struct nw_spi *spi, const struct spi_status *status)
{
    spi->busy = 1; /* also behind an error: the part may have taken the command in */
    for (uint16_t step = status->steps; spi->error >= 0; step--) {
        nw_spi_run(spi, status->command, status->address, &spi->status, 1);
        if (spi->error < 0) {
            break;
        }
        if ((spi->status & status->mask) == status->ready) {
            spi->busy = 0;
            break;
        }
        note(spi, step > 0 ? spi->ops->wait(spi, status->step_us) : (int)NW_ERR_BUSY);
    }
    return spi->status;
}

uint8_t nw_spi_silent(struct nw_spi *spi, const struct spi_status *status)
{
    uint8_t id[3];
    uint8_t line;

    nw_spi_run(spi, status->command, status->address, &spi->status, 1);
    line = spi->status;
    if (spi->error < 0 || (uint8_t)(line + 1U) > 1U || (line & status->mask) == status->ready) {
        return 0;
    }
    nw_spi_run(spi, SPI_ID, 0, id, sizeof id);
    return spi->error >= 0 && id[0] == line && id[1] == line && id[2] == line;
}

void nw_spi_begin(struct nw_spi *spi, const struct spi_status *status)
{
    spi->error = NW_OK;
    if (spi->busy != 0) {
        (void)nw_spi_ready(spi, status);
    }
}

uint32_t nw_spi_us(const struct nw_spi *spi, uint32_t bytes)
{
    return spi->khz == 0 ? 0 : bytes * 8000U / spi->khz;
}
