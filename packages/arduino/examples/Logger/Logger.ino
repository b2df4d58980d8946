// SPDX-License-Identifier: Apache-2.0
// Logs a reading a second to serial NOR flash; what was synced is there after a loss of power.
// Wires: the board's SPI pins, and chip select at pin 10.
// It takes some 50 KB of flash and 3 KB of RAM: a 32-bit board, or a Mega 2560; not an Uno.
#include <Nandwich.h>
#include <SPI.h>
#if defined(__AVR__)
#include <avr/io.h>
#if FLASHEND < 0xFFFF || RAMEND < 0x1000
#error "Logger takes 50 KB of flash and 3 KB of RAM: it fits a Mega 2560, not an Uno"
#endif
#endif

static const int select_pin = 10;
static const SPISettings settings(8000000, MSBFIRST, SPI_MODE0);

static int flash_select(struct nw_spi *, uint8_t on)
{
    if (on == NW_SPI_SELECT) { // NW_SPI_RAISE is for cards alone
        SPI.beginTransaction(settings);
        digitalWrite(select_pin, LOW);
    } else {
        digitalWrite(select_pin, HIGH);
        SPI.endTransaction();
    }
    return NW_OK;
}

static int flash_transfer(struct nw_spi *, const uint8_t *out, uint8_t *in, uint16_t length)
{
    for (uint16_t i = 0; i < length; i++) {
        uint8_t byte = SPI.transfer(out != NULL ? out[i] : 0xFF);

        if (in != NULL) {
            in[i] = byte;
        }
    }
    return NW_OK;
}

static int flash_wait(struct nw_spi *, uint16_t us)
{
    delayMicroseconds(us);
    return NW_OK;
}

static const struct nw_spi_ops ops = {flash_select, flash_transfer, flash_wait, NULL, NULL};
static struct nw_spi bus = {&ops, NULL, 8000, 0, 0, 0};
static struct nw_spi_nor flash;
static struct nw_store *store;
static uint32_t ram[512];
static int readings;

static void halt(const char *what, int error)
{
    Serial.print(what);
    Serial.print(": ");
    Serial.println(nw_error_text(error));
    for (;;) {
    }
}

void setup()
{
    struct nw_store_config config = {};
    struct nw_store_spec spec = {NW_STORE_STREAM, NW_STORE_EXPENDABLE, sizeof(uint32_t), 0};

    Serial.begin(115200);
    pinMode(select_pin, OUTPUT);
    digitalWrite(select_pin, HIGH);
    SPI.begin();
    int result = nw_spi_nor_open(&flash, &bus, NULL);
    if (result < 0) {
        halt("flash", result);
    }
    result = nw_store_mount(&store, &flash.chip, &config, ram, sizeof ram);
    if (result == NW_ERR_BLANK) { // a new chip; on any other error nothing is erased
        result = nw_store_format(&store, &flash.chip, &config, ram, sizeof ram);
    }
    if (result < 0) {
        halt("store", result);
    }
    readings = nw_store_find(store, "readings");
    if (readings == NW_ERR_NOT_FOUND) {
        readings = nw_store_create(store, "readings", &spec);
    }
    if (readings < 0) {
        halt("readings", readings);
    }
}

void loop()
{
    uint32_t reading = (uint32_t)analogRead(A0);
    int result = nw_store_append(store, readings, &reading, sizeof reading);

    if (result >= 0) {
        result = nw_store_sync(store);
    }
    if (result < 0) {
        halt("append", result);
    }
    nw_store_idle(store, 4);
    delay(1000);
}
