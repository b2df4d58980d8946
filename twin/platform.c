/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nodes and radios. */
#include "nandwich-twin/platform.h"

#include <string.h>

#include "parts_internal.h"

#define MANUAL "Crossbow MPR/MIB User's Manual 7430-0021-06, Rev. A, table "
#define CROSSBOW MANUAL "6-2"
#define CELLS MANUAL "6-1: two AA cells"
#define FATVM "Lin et al., IJDSN 2013"
#define CONSTANTS FATVM ", section 7.6"
#define CAPSULE "Mathur et al., SenSys 2006"
#define RGEDF "Dou and Kalogeraki, SEUS 2008"

static const char *const kinds[] = { "node", "radio", NULL };

#define ROOM(member) ((uint8_t)sizeof(((struct nw_platform *)0)->member))
#define FIELD(key, member, kind, most, help)                                                       \
    { key, help, (uint16_t)offsetof(struct nw_platform, member), ROOM(member), kind, 0, most, NULL }

static const struct nw_field fields[] = {
    FIELD("name", name, NW_FIELD_TEXT, 0, "name"),
    FIELD("note", note, NW_FIELD_TEXT, 0, "what it is"),
    { "kind", "node or radio", (uint16_t)offsetof(struct nw_platform, kind), 1, NW_FIELD_CHOICE, 0,
      1, kinds },
    FIELD("supply", supply_mv, NW_FIELD_MV, 50000, "supply voltage"),
    FIELD("sleep", sleep_na, NW_FIELD_NA, UINT32_MAX, "current asleep"),
    FIELD("clock", clock_hz, NW_FIELD_HZ, UINT32_MAX, "processor clock"),
    FIELD("ram", ram_bytes, NW_FIELD_BYTES, UINT32_MAX, "RAM"),
    FIELD("active", active_na, NW_FIELD_NA, UINT32_MAX, "current awake, radio and storage apart"),
    FIELD("bit_rate", bit_rate, NW_FIELD_BPS, UINT32_MAX, "bits a second on the air"),
    FIELD("send", send_na, NW_FIELD_NA, UINT32_MAX, "current sending"),
    FIELD("receive", receive_na, NW_FIELD_NA, UINT32_MAX, "current receiving"),
    FIELD("send.byte_energy", send_byte_pj, NW_FIELD_PJ, UINT64_MAX, "energy of a byte sent"),
    FIELD("receive.byte_energy", receive_byte_pj, NW_FIELD_PJ, UINT64_MAX,
          "energy of a byte received"),
    FIELD("packet", packet_bytes, NW_FIELD_BYTES, UINT32_MAX, "size of a packet that was measured"),
    FIELD("packet.energy", packet_pj, NW_FIELD_PJ, UINT64_MAX, "its energy"),
    FIELD("packet.time", packet_ns, NW_FIELD_NS, UINT64_MAX, "its time"),
};

static const struct nw_part_row mica2[] = {
    { "name", "MICA2", "Crossbow part name" },
    { "note", "ATmega128L mote at 7.3728 MHz", CAPSULE },
    { "kind", "node", CAPSULE },
    { "supply", "3 V", CELLS },
    { "sleep", "10 uA", CROSSBOW },
    { "clock", "7.3728 MHz", CROSSBOW ": 7.37 MHz" },
    { "ram", "4 KiB", CLASS },
    { "active", "12 mA", CROSSBOW ": full operation" },
};

static const struct nw_part_row cc1010[] = {
    { "name", "CC1010", "Chipcon part number" },
    { "note", "8051 core with a radio on the chip, at 14.7456 MHz", RGEDF },
    { "kind", "node", RGEDF },
    { "supply", "3.3 V", CLASS },
    { "sleep", "0.2 uA", CLASS ": power-down" },
    { "clock", "14.7456 MHz", CLASS },
    { "ram", "2176 B", CLASS ": 128 B inside, 2 KB outside, of which " RGEDF " counts 2024 B" },
    { "active", "14.8 mA", CLASS ": active mode, radio off" },
};

static const struct nw_part_row stm32[] = {
    { "name", "STM32F103ZE", "ST part number" },
    { "note", "Cortex-M3 node at 72 MHz, as in " FATVM, FATVM },
    { "kind", "node", FATVM },
    { "supply", "3.3 V", CLASS },
    { "sleep", "20 uA", CONSTANTS },
    { "clock", "72 MHz", CONSTANTS },
    { "ram", "64 KiB", FATVM ", section 7.1" },
    { "active", "36 mA", CLASS ": run mode from flash at 72 MHz, peripherals off" },
};

static const struct nw_part_row esp32c3[] = {
    { "name", "ESP32-C3", "Espressif part number" },
    { "note", "RV32 node at 160 MHz, its radio off", CLASS },
    { "kind", "node", CLASS },
    { "supply", "3.3 V", CLASS },
    { "sleep", "5 uA", CLASS ": deep sleep" },
    { "clock", "160 MHz", CLASS },
    { "ram", "400 KiB", CLASS },
    { "active", "28 mA", CLASS ": modem sleep, the processor running, peripherals' clocks on" },
};

static const struct nw_part_row imote2[] = {
    { "name", "IMOTE2", "Intel Mote 2" },
    { "note", "PXA271 node at 104 MHz with 32 MB of SDRAM", FATVM },
    { "kind", "node", FATVM },
    { "supply", "4.5 V", CLASS ": three AAA cells" },
    { "sleep", "387 uA", CONSTANTS },
    { "clock", "104 MHz", CONSTANTS },
    { "ram", "32 MiB", CLASS ": SDRAM, beside 256 KiB of SRAM" },
    { "active", "53 mA", CLASS ": 66 mA at 104 MHz with the radio on, less 13 mA for it" },
};

static const struct nw_part_row cc1000[] = {
    { "name", "CC1000", "Chipcon part number" },
    { "note", "Radio of the Mica2", CAPSULE },
    { "kind", "radio", CAPSULE },
    { "supply", "3 V", CELLS },
    { "sleep", "1 uA", CROSSBOW },
    { "bit_rate", "38.4 kbit/s", CLASS },
    { "send", "10 mA", CROSSBOW ": 1 mW" },
    { "receive", "7 mA", CROSSBOW },
    { "send.byte_energy", "6.25 uJ", CROSSBOW ": 3 V x 10 mA x 8 bit / 38.4 kbit/s" },
    { "receive.byte_energy", "4.375 uJ", CROSSBOW ": 3 V x 7 mA x 8 bit / 38.4 kbit/s" },
    { "packet", "64 B", CLASS ": in " CAPSULE ", place not noted, at 1 % duty cycle" },
    { "packet.energy", "40 mJ", CLASS ": in " CAPSULE ", place not noted, at 1 % duty cycle" },
    { "packet.time", "1.1 s", CLASS ": in " CAPSULE ", place not noted, at 1 % duty cycle" },
};

static const struct nw_part_row cc2420[] = {
    { "name", "CC2420", "Chipcon part number" },
    { "note", "IEEE 802.15.4 radio of the MicaZ, at the 40 kbit/s that nodes get of it", FATVM },
    { "kind", "radio", CROSSBOW },
    { "supply", "3 V", CELLS },
    { "sleep", "1 uA", CROSSBOW },
    { "bit_rate", "40 kbit/s", CONSTANTS },
    { "send", "17 mA", CROSSBOW ": 1 mW" },
    { "receive", "19.7 mA", CROSSBOW },
    { "send.byte_energy", "11.3 uJ", CONSTANTS ": at 40 kbit/s" },
    { "receive.byte_energy", "13.1 uJ", CONSTANTS ": at 40 kbit/s" },
};

static const struct nw_part_row cc2420_least[] = {
    { "name", "CC2420-LEAST", "Chipcon part number, and what of it" },
    { "note", "CC2420 at the 250 kbit/s of its datasheet: no wait, no header, no answer", FATVM },
    { "kind", "radio", CROSSBOW },
    { "supply", "3 V", CELLS },
    { "sleep", "1 uA", CROSSBOW },
    { "bit_rate", "250 kbit/s", CONSTANTS },
    { "send", "17 mA", CROSSBOW ": 1 mW" },
    { "receive", "19.7 mA", CROSSBOW },
    { "send.byte_energy", "1.8 uJ", CONSTANTS ": at 250 kbit/s" },
    { "receive.byte_energy", "2.1 uJ", CONSTANTS ": at 250 kbit/s" },
};

static const struct nw_part_entry entries[] = {
    PART_ENTRY(mica2),  PART_ENTRY(cc1010), PART_ENTRY(stm32),  PART_ENTRY(esp32c3),
    PART_ENTRY(imote2), PART_ENTRY(cc1000), PART_ENTRY(cc2420), PART_ENTRY(cc2420_least),
};

const struct nw_field *nw_platform_fields(size_t *count)
{
    *count = sizeof fields / sizeof fields[0];
    return fields;
}

uint32_t nw_platforms_count(void)
{
    return sizeof entries / sizeof entries[0];
}

const struct nw_part_entry *nw_platforms_at(uint32_t index)
{
    return &entries[index];
}

int nw_platforms_find(const char *name)
{
    for (uint32_t i = 0; i < nw_platforms_count(); i++) {
        if (nw_same_name(entries[i].rows[0].value, name)) {
            return (int)i;
        }
    }
    return NW_ERR_NOT_FOUND;
}

int nw_platforms_get(const char *name, struct nw_platform *platform)
{
    int index = nw_platforms_find(name);

    if (index < 0) {
        return index;
    }
    memset(platform, 0, sizeof *platform);
    for (uint32_t i = 0; i < entries[index].count; i++) {
        const struct nw_part_row *row = &entries[index].rows[i];
        const struct nw_field *field =
            nw_field_find(fields, sizeof fields / sizeof fields[0], row->key);

        if (field == NULL || nw_field_set(field, platform, row->value) < 0) {
            return NW_ERR_CONFIG;
        }
    }
    return NW_OK;
}

/* mV x nA = pW; pW x s = pJ. Taken apart so that nothing overflows and one rounding is left. */
uint64_t nw_platform_pj(const struct nw_platform *platform, uint64_t current_na, uint64_t ns)
{
    uint64_t pw = platform->supply_mv * current_na;
    uint64_t seconds = ns / 1000000000U;
    uint64_t rest = ns % 1000000000U;

    return pw * seconds + pw / 1000000000U * rest + pw % 1000000000U * rest / 1000000000U;
}
