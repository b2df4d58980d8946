/* SPDX-License-Identifier: Apache-2.0 */
/* Zephyr's SPI interface, as its API reference tells it. */
#ifndef STUB_ZEPHYR_SPI_H
#define STUB_ZEPHYR_SPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

struct spi_config {
    uint32_t frequency;
};

struct spi_dt_spec {
    const struct device *bus;
    struct spi_config config;
};

struct spi_buf {
    void *buf;
    size_t len;
};

struct spi_buf_set {
    const struct spi_buf *buffers;
    size_t count;
};

int spi_transceive_dt(const struct spi_dt_spec *spec, const struct spi_buf_set *tx_bufs,
                      const struct spi_buf_set *rx_bufs);
bool spi_is_ready_dt(const struct spi_dt_spec *spec);

#endif
