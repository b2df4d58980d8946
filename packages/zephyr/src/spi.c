/* SPDX-License-Identifier: Apache-2.0 */
/* Whole commands on Zephyr's SPI: transfers are noted, and all sent when the part is deselected.
 * The drivers allow that: driver_spi.h, WHOLE COMMANDS. */
#include <nandwich-zephyr/spi.h>

#define SLEEP_US 100U /* shorter waits are not worth another thread */

static struct nw_zephyr_spi *bus_of(struct nw_spi *spi)
{
    return spi->context;
}

static int bus_select(struct nw_spi *spi, uint8_t on)
{
    struct nw_zephyr_spi *bus = bus_of(spi);
    const struct spi_buf_set out = {.buffers = bus->out, .count = bus->used};
    const struct spi_buf_set in = {.buffers = bus->in, .count = bus->used};
    int result;

    if (on == NW_SPI_RAISE) {
        return NW_ERR_UNSUPPORTED; /* of cards alone, which this bus is not for */
    }
    if (on != NW_SPI_END || bus->used == 0) {
        bus->used = 0;
        return NW_OK;
    }
    result = spi_transceive_dt(bus->wire, &out, &in);
    bus->used = 0;
    if (result < 0) {
        bus->error = result;
        return NW_ERR_IO;
    }
    return NW_OK;
}

static int bus_transfer(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length)
{
    struct nw_zephyr_spi *bus = bus_of(spi);

    if (bus->used == sizeof bus->out / sizeof bus->out[0]) {
        return NW_ERR_IO;
    }
    bus->out[bus->used].buf = (void *)(uintptr_t)out; /* only read: Zephyr has one type for both */
    bus->out[bus->used].len = length;
    bus->in[bus->used].buf = in;
    bus->in[bus->used].len = length;
    bus->used++;
    return NW_OK;
}

static int bus_wait(struct nw_spi *spi, uint16_t us)
{
    int32_t left = us;

    (void)spi;
    if (us < SLEEP_US) {
        k_busy_wait(us);
        return NW_OK;
    }
    while (left > 0) {
        left = k_usleep(left); /* what is left when somebody woke the thread */
    }
    return NW_OK;
}

static const struct nw_spi_ops operations = {
    .select = bus_select,
    .transfer = bus_transfer,
    .wait = bus_wait,
};

int nw_zephyr_spi_open(struct nw_zephyr_spi *bus, const struct spi_dt_spec *wire)
{
    bus->spi = (struct nw_spi){.ops = &operations, .context = bus};
    bus->spi.khz = wire->config.frequency / 1000U;
    bus->wire = wire;
    bus->used = 0;
    bus->error = 0;
    return spi_is_ready_dt(wire) ? NW_OK : NW_ERR_NOT_FOUND;
}
