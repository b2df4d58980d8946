/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a firmware image on simavr's ATmega128, or on another part, and prints the cycles between
 * writes to port B.
 *
 *   run_avr IMAGE.elf [atmega1284p]
 *
 * A program of its own: simavr is GPL-3 and never linked to what we ship. The image ends by writing
 * 255 to the port. Lines: markerN COUNT LEAST MOST MEAN.
 */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdio.h>
#include <string.h>

#define MARKERS 8U
#define PORTB_ADDRESS 0x38U       /* of the ATmega128 */
#define PORTB_NEWER_ADDRESS 0x25U /* of the parts after it */
#define MOST_CYCLES 1000000000ULL

struct marker {
    unsigned count;
    avr_cycle_count_t least, most, sum;
};

static struct marker markers[MARKERS];
static avr_cycle_count_t since;
static unsigned running;
static int over;

static void mark(struct avr_t *avr, avr_io_addr_t address, uint8_t value, void *context)
{
    struct marker *marker = &markers[running];

    (void)context;
    avr->data[address] = value;
    if (running != 0) {
        avr_cycle_count_t took = avr->cycle - since;

        marker->least = marker->count == 0 || took < marker->least ? took : marker->least;
        marker->most = took > marker->most ? took : marker->most;
        marker->sum += took;
        marker->count++;
    }
    over = value == 255U;
    running = value < MARKERS ? value : 0;
    since = avr->cycle;
}

int main(int argc, char **argv)
{
    elf_firmware_t firmware;
    avr_t *avr = avr_make_mcu_by_name(argc == 3 ? argv[2] : "atmega128");

    memset(&firmware, 0, sizeof firmware);
    if (argc < 2 || argc > 3 || avr == NULL || elf_read_firmware(argv[1], &firmware) != 0) {
        fprintf(stderr, "run_avr IMAGE.elf [atmega1284p]\n");
        return 2;
    }
    avr_init(avr);
    avr->frequency = 7372800;
    avr_load_firmware(avr, &firmware);
    avr_register_io_write(avr, argc == 3 ? PORTB_NEWER_ADDRESS : PORTB_ADDRESS, mark, NULL);
    while (!over && avr->cycle < MOST_CYCLES) {
        int state = avr_run(avr);

        if (state == cpu_Done || state == cpu_Crashed) {
            break;
        }
    }
    for (unsigned i = 1; i < MARKERS; i++) {
        if (markers[i].count > 0) {
            printf("marker%u %u %llu %llu %llu\n", i, markers[i].count,
                   (unsigned long long)markers[i].least, (unsigned long long)markers[i].most,
                   (unsigned long long)(markers[i].sum / markers[i].count));
        }
    }
    return over ? 0 : 1;
}
