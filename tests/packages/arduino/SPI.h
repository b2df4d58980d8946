/* SPDX-License-Identifier: Apache-2.0 */
/* Arduino's SPI library, as its reference tells it. */
#ifndef STUB_SPI_H
#define STUB_SPI_H

#include <Arduino.h>

#define SPI_MODE0 0

struct SPISettings {
    SPISettings(uint32_t clock, uint8_t order, uint8_t mode);
};

struct SpiPort {
    void begin();
    void beginTransaction(SPISettings settings);
    void endTransaction();
    uint8_t transfer(uint8_t byte);
};
extern SpiPort SPI;

#endif
