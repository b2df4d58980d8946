/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a firmware image of ports/8051 in the simulator, with an SD card on its SPI, and prints what
 * happened as `key value` lines. The test that reads them is tests/python/test_sched_8051.py.
 *
 *   run8051 IMAGE.hex classic|fast MAX_CLOCKS COUNTS_ADDRESS COUNT_BYTES [CARD.img]
 *
 * The card answers as an SD card in SPI mode does and is stricter than one: a command while it is
 * busy, or a byte outside the protocol, is a violation and ends the run. Its busy times make a
 * block write 13 ms and the first write into 256 sectors 60 to 140 ms, with the SPI time of the
 * firmware.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim8051.h"

#define CLOCKS_PER_MS 14746U
#define CARD_SECTORS 4096U
#define MARKERS 8U

enum phase { CARD_IDLE, CARD_TOKEN, CARD_DATA };

struct card {
    uint8_t image[CARD_SECTORS][512];
    uint8_t opened[CARD_SECTORS / 256U];
    uint8_t frame[6];
    uint32_t received; /* bytes of the frame or of the data block */
    enum phase phase;
    uint8_t out[520]; /* what it has to say, from `said` on */
    uint32_t said, to_say;
    uint64_t busy_until;
    uint32_t sector;
    uint32_t writes, violations;
    uint32_t random;
};

struct marker {
    uint32_t count;
    uint64_t least, most, sum;
};

struct bench {
    struct card card;
    struct marker markers[MARKERS];
    uint64_t since;
    uint64_t interrupts;
    uint8_t running;
};

static struct sim8051 sim;
static struct bench bench;

static void say(struct card *card, uint8_t byte)
{
    card->out[card->to_say++] = byte;
}

static void start_command(struct card *card)
{
    uint32_t argument = ((uint32_t)card->frame[1] << 24) | ((uint32_t)card->frame[2] << 16) |
                        ((uint32_t)card->frame[3] << 8) | card->frame[4];
    uint8_t number = card->frame[0] & 0x3FU;

    card->said = card->to_say = 0;
    say(card, 0xFF);
    card->sector = argument / 512U;
    if ((number == 17 || number == 24) && (argument % 512U != 0 || card->sector >= CARD_SECTORS)) {
        say(card, 0x40);
        return;
    }
    say(card, number == 0 || number == 55 ? 0x01 : 0x00);
    if (number == 24) {
        card->phase = CARD_TOKEN;
    } else if (number == 17) {
        say(card, 0xFF);
        say(card, 0xFE);
        memcpy(card->out + card->to_say, card->image[card->sector], 512);
        card->to_say += 512;
        say(card, 0xFF);
        say(card, 0xFF);
    } else if (number != 0 && number != 41 && number != 55) {
        card->violations++;
    }
}

static void end_block(struct card *card, uint64_t clock)
{
    uint8_t *opened = &card->opened[card->sector / 256U];
    uint32_t busy_ms10 = 98;

    if (!*opened) {
        *opened = 1;
        card->random = card->random * 1103515245U + 12345U;
        busy_ms10 = 568 + (card->random >> 16) % 800U;
    }
    card->busy_until = clock + (uint64_t)busy_ms10 * CLOCKS_PER_MS / 10U;
    card->writes++;
    card->phase = CARD_IDLE;
    card->said = card->to_say = 0;
    say(card, 0x05);
}

static void take_byte(struct card *card, uint8_t in, uint64_t clock)
{
    if (card->phase == CARD_TOKEN) {
        if (in == 0xFE) {
            card->phase = CARD_DATA;
            card->received = 0;
        } else if (in != 0xFF) {
            card->violations++;
        }
    } else if (card->phase == CARD_DATA) {
        if (card->received < 512) {
            card->image[card->sector][card->received] = in;
        }
        if (++card->received == 514) {
            card->received = 0;
            end_block(card, clock);
        }
    } else if (card->received > 0 || (in & 0xC0U) == 0x40U) {
        if (clock < card->busy_until) {
            card->violations++;
        }
        card->frame[card->received++] = in;
        if (card->received == 6) {
            card->received = 0;
            start_command(card);
        }
    } else if (in != 0xFF) {
        card->violations++;
    }
}

static uint8_t card_exchange(struct sim8051 *s, uint8_t in)
{
    struct card *card = &bench.card;
    uint8_t out = 0xFF;

    if ((s->sfr[0x30] & 0x10U) != 0) {
        return 0xFF; /* not selected */
    }
    if (card->said < card->to_say) {
        out = card->out[card->said++];
    } else if (s->clocks < card->busy_until) {
        out = 0x00;
    }
    take_byte(card, in, s->clocks);
    if (card->violations != 0) {
        s->stop = SIM_SPI;
    }
    return out;
}

/* P1 says what runs; the time interrupts took is not its own. */
static void mark(struct sim8051 *s, uint8_t address, uint8_t value)
{
    if (address != 0x90U) {
        return;
    }
    if (bench.running != 0) {
        struct marker *marker = &bench.markers[bench.running];
        uint64_t took = s->clocks - bench.since - (s->interrupt_clocks - bench.interrupts);

        marker->least = marker->count == 0 || took < marker->least ? took : marker->least;
        marker->most = took > marker->most ? took : marker->most;
        marker->sum += took;
        marker->count++;
    }
    bench.running = value < MARKERS ? value : 0;
    bench.since = s->clocks;
    bench.interrupts = s->interrupt_clocks;
}

static void report(const char *counts, const char *bytes)
{
    uint32_t address = (uint32_t)strtoul(counts, NULL, 0);
    uint32_t length = (uint32_t)strtoul(bytes, NULL, 0);

    printf("stop %d\npc %u\nclocks %llu\ninstructions %llu\nhighest_stack %u\n", (int)sim.stop,
           sim.pc, (unsigned long long)sim.clocks, (unsigned long long)sim.instructions,
           sim.highest);
    printf("interrupt_clocks %llu\n", (unsigned long long)sim.interrupt_clocks);
    printf("writes %u\nviolations %u\n", bench.card.writes, bench.card.violations);
    for (uint32_t i = 1; i < MARKERS; i++) {
        const struct marker *marker = &bench.markers[i];

        if (marker->count > 0) {
            printf("marker%u %u %llu %llu %llu\n", i, marker->count,
                   (unsigned long long)marker->least, (unsigned long long)marker->most,
                   (unsigned long long)(marker->sum / marker->count));
        }
    }
    printf("counts");
    for (uint32_t i = 0; i + 4U <= length; i += 4U) {
        const uint8_t *at = &sim.xdata[(address + i) & 0xFFFFU];

        printf(" %lu", at[0] | (unsigned long)at[1] << 8 | (unsigned long)at[2] << 16 |
                           (unsigned long)at[3] << 24);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc < 6 || sim_load(&sim, argv[1]) != 0) {
        fprintf(stderr, "run8051 IMAGE.hex classic|fast MAX_CLOCKS COUNTS_ADDRESS COUNT_BYTES "
                        "[CARD.img]\n");
        return 2;
    }
    sim.fast = strcmp(argv[2], "fast") == 0;
    sim.xram = 2024;
    sim.spi = card_exchange;
    sim.spi_clocks = 32;
    sim.port = mark;
    bench.card.random = 1;
    sim_reset(&sim);
    sim_run(&sim, strtoull(argv[3], NULL, 0));
    report(argv[4], argv[5]);
    if (argc > 6) {
        FILE *file = fopen(argv[6], "wb");

        if (file == NULL || fwrite(bench.card.image, sizeof bench.card.image, 1, file) != 1) {
            return 2;
        }
        fclose(file);
    }
    return sim.stop == SIM_HALTED ? 0 : 1;
}
