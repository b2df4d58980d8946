/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: where the state is small and pure, all of it is tried instead of a sample: checksums by
 * each state and byte, the generator by its powers, SECDED by each pair of flipped bits, the order
 * of flows by each order of arrivals, the scheduler's ring by each sequence of calls, positions in
 * the store by each place.
 * The bisection for the newest block has a test of its own: test_store_bisection.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../core/sched/parts.h"
#include "../../core/store/store.h"
#include "nandwich/crc.h"
#include "nandwich/ecc.h"
#include "nandwich/random.h"

/* Checksums */

static uint32_t by_bits(uint32_t crc, uint32_t polynomial, uint8_t byte)
{
    crc ^= byte;
    for (uint32_t bit = 0; bit < 8U; bit++) {
        crc = crc >> 1 ^ ((crc & 1U) != 0 ? polynomial : 0);
    }
    return crc;
}

/* Each state with each byte. Messages are states one after the other. */
static void test_crc16(void **state)
{
    (void)state;
    for (uint32_t crc = 0; crc <= 0xFFFFU; crc++) {
        for (uint32_t byte = 0; byte < 256U; byte++) {
            uint8_t data = (uint8_t)byte;

            if (nw_crc16((uint16_t)crc, &data, 1) != by_bits(crc, 0x8408U, data)) {
                fail_msg("state %x byte %x", (unsigned)crc, (unsigned)byte);
            }
        }
    }
}

/* A step moves the upper 24 bits down and adds what the lower 8 and the byte choose: so each of
 * these with each byte, and each upper bit, are all there are. Eight bytes at a time are linear
 * too: each bit of state and message. */
static void test_crc32(void **state)
{
    (void)state;
    for (uint32_t low = 0; low < 256U; low++) {
        for (uint32_t byte = 0; byte < 256U; byte++) {
            uint8_t data = (uint8_t)byte;

            for (uint32_t bit = 8; bit <= 32U; bit++) {
                uint32_t crc = low | (bit < 32U ? (uint32_t)1 << bit : 0U);

                if (nw_crc32(crc, &data, 1) != by_bits(crc, 0xEDB88320UL, data)) {
                    fail_msg("state %x byte %x", (unsigned)crc, (unsigned)byte);
                }
            }
        }
    }
    for (uint32_t bit = 0; bit <= 96U; bit++) {
        uint8_t data[8] = {0};
        uint32_t crc = bit < 32U ? (uint32_t)1 << bit : 0U;
        uint32_t slow = crc;

        if (bit >= 32U && bit < 96U) {
            data[(bit - 32U) / 8U] = (uint8_t)(1U << bit % 8U);
        }
        for (uint32_t i = 0; i < sizeof data; i++) {
            slow = by_bits(slow, 0xEDB88320UL, data[i]);
        }
        assert_int_equal(nw_crc32(crc, data, sizeof data), slow);
    }
}

/* What a flip of this bit changes in a tag of so many bytes before its check. */
static uint16_t change_of(uint32_t bit, uint8_t covered)
{
    uint8_t tag[18] = {0};

    tag[bit / 8U] = (uint8_t)(1U << bit % 8U);
    return (uint16_t)(nw_crc32(0, tag, covered) ^ tag[covered] ^
                      ((uint32_t)tag[covered + 1U] << 8));
}

/* Flips of two and of three bits that the check of a tag does not find. */
static void count_missed(uint8_t covered, uint32_t *twos, uint32_t *threes)
{
    uint32_t bits = 8U * (covered + 2U);
    uint16_t changes[8U * 18U];

    *twos = 0;
    *threes = 0;
    for (uint32_t a = 0; a < bits; a++) {
        changes[a] = change_of(a, covered);
        assert_int_not_equal(changes[a], 0);
        for (uint32_t b = 0; b < a; b++) {
            *twos += changes[a] == changes[b];
            for (uint32_t c = 0; c < b; c++) {
                *threes += (changes[a] ^ changes[b]) == changes[c];
            }
        }
    }
}

/* Half a CRC-32 is no CRC: how much it finds is no theorem. core/ftl/tag.h has these figures. */
static void test_tags(void **state)
{
    uint32_t twos;
    uint32_t threes;

    (void)state;
    count_missed(13, &twos, &threes);
    assert_int_equal(twos, 0);
    assert_int_equal(threes, 0);
    count_missed(16, &twos, &threes);
    assert_int_equal(twos, 3);
    assert_int_equal(threes, 6);
}

/* The generator */

/* A linear map of 32 bits: what becomes of each. */
struct map {
    uint32_t of[32];
};

static uint32_t apply(const struct map *map, uint32_t bits)
{
    uint32_t sum = 0;

    for (uint32_t bit = 0; bit < 32U; bit++) {
        sum ^= (bits >> bit & 1U) != 0 ? map->of[bit] : 0U;
    }
    return sum;
}

static struct map behind(const struct map *first, const struct map *then)
{
    struct map both;

    for (uint32_t bit = 0; bit < 32U; bit++) {
        both.of[bit] = apply(then, first->of[bit]);
    }
    return both;
}

/* So many steps of the generator at once: 1 when they lead each state back to itself. */
static int leads_back(uint32_t steps)
{
    struct map power;
    struct map sum;
    uint32_t same = 0;

    for (uint32_t bit = 0; bit < 32U; bit++) {
        struct nw_random random = {.state = (uint32_t)1 << bit};

        sum.of[bit] = random.state;
        power.of[bit] = nw_random_next(&random);
    }
    for (; steps > 0; steps >>= 1) {
        sum = (steps & 1U) != 0 ? behind(&sum, &power) : sum;
        power = behind(&power, &power);
    }
    for (uint32_t bit = 0; bit < 32U; bit++) {
        same += sum.of[bit] == (uint32_t)1 << bit;
    }
    return same == 32U;
}

/* A step is linear. Its period is 2^32 - 1 when so many steps lead back and no divisor of that
 * many does; the largest ones are enough. */
static void test_period(void **state)
{
    static const uint32_t primes[] = {3, 5, 17, 257, 65537};

    (void)state;
    assert_true(leads_back(0xFFFFFFFFU));
    for (uint32_t i = 0; i < sizeof primes / sizeof primes[0]; i++) {
        assert_false(leads_back(0xFFFFFFFFU / primes[i]));
    }
    for (uint32_t seed = 0; seed < 65536U; seed++) {
        struct nw_random random;

        nw_random_seed(&random, seed ^ 0x9E370000UL);
        assert_int_not_equal(random.state, 0);
    }
}

/* SECDED */

static uint8_t seen[1U << 21]; /* a bit for each syndrome */

/* The 24 bits by which data with one flipped bit differs from its parity. */
static uint32_t syndrome_of(uint32_t bit, uint16_t length)
{
    static uint8_t data[512];
    uint8_t parity[3] = {0};
    struct nw_ecc_unit unit = {data, parity, length, 0};

    if (bit >= 8U * length) {
        return (uint32_t)1 << (bit - 8U * length);
    }
    data[bit / 8U] = (uint8_t)(1U << bit % 8U);
    nw_ecc_secded.encode(&unit);
    data[bit / 8U] = 0;
    return parity[0] | (uint32_t)parity[1] << 8 | (uint32_t)parity[2] << 16;
}

/* What is answered for blank data whose parity differs so. */
static int answer_of(uint32_t syndrome, uint16_t length, uint8_t erased)
{
    static uint8_t data[512];
    uint8_t parity[3];
    struct nw_ecc_unit unit = {data, parity, length, erased};

    memset(data, erased, length);
    for (uint32_t i = 0; i < 3U; i++) {
        parity[i] = (uint8_t)((syndrome >> (8U * i) & 0xFFU) ^ erased);
    }
    return nw_ecc_secded.check(&unit);
}

/* The code is linear, and the answer depends on the syndrome alone: so each syndrome of two flipped
 * bits once is each pair of bits. */
static void prove_secded(uint16_t length, uint8_t erased)
{
    static uint32_t syndromes[8U * 515U];
    uint32_t bits = 8U * (length + 3U);

    memset(seen, 0, sizeof seen);
    for (uint32_t bit = 0; bit < bits; bit++) {
        syndromes[bit] = syndrome_of(bit, length);
        assert_int_equal(answer_of(syndromes[bit], length, erased), 1);
    }
    for (uint32_t a = 0; a < bits; a++) {
        for (uint32_t b = 0; b < a; b++) {
            uint32_t both = syndromes[a] ^ syndromes[b];

            if ((seen[both >> 3] & (1U << (both & 7U))) == 0) {
                seen[both >> 3] |= (uint8_t)(1U << (both & 7U));
                if (answer_of(both, length, erased) != NW_ERR_ECC) {
                    fail_msg("%u bytes: bits %u and %u", length, (unsigned)a, (unsigned)b);
                }
            }
        }
    }
}

static void test_secded(void **state)
{
    (void)state;
    prove_secded(512, 0x00);
    prove_secded(512, 0xFF);
    prove_secded(511, 0xFF);
    prove_secded(256, 0xFF);
    prove_secded(24, 0x00);
    prove_secded(15, 0xFF);
}

/* The order of flows */

#define FLOWS 5U
#define KEYS 3U

struct order {
    struct nw_sched sched;
    struct nw_sched_flow flows[FLOWS];
    uint8_t places[FLOWS];
};

static struct nw_sched_policy policy;

static void attach(struct order *order)
{
    order->sched.flows = order->flows;
    order->sched.order = order->places;
    order->sched.policy = &policy;
}

static int before(const struct order *order, uint8_t a, uint8_t b)
{
    int32_t ticks = NW_TICKS(order->flows[a].key, order->flows[b].key);

    return ticks > 0 || (ticks == 0 && a < b);
}

/* These flows are in the order, each at its place, and none before one that precedes it. */
static void check_order(const struct order *order, uint32_t members)
{
    uint32_t met = 0;

    for (uint8_t i = 0; i < order->sched.order_count; i++) {
        uint8_t parent = (uint8_t)(policy.flags != 0 ? i - 1U : (i - 1U) / 2U);

        met |= 1U << order->places[i];
        assert_int_equal(order->flows[order->places[i]].place, i);
        assert_true(i == 0 || before(order, order->places[parent], order->places[i]));
    }
    assert_int_equal(met, members);
}

/* Each flow taken out of the whole order, and each key it may have instead. */
static void change_each(const struct order *whole, uint32_t base)
{
    for (uint8_t flow = 0; flow < FLOWS; flow++) {
        struct order order = *whole;

        attach(&order);
        nw_sched_order_remove(&order.sched, flow);
        check_order(&order, ((1U << FLOWS) - 1U) & ~(1U << flow));
        for (uint32_t key = 0; key < KEYS; key++) {
            order = *whole;
            attach(&order);
            order.flows[flow].key = base + key;
            nw_sched_order_moved(&order.sched, flow);
            check_order(&order, (1U << FLOWS) - 1U);
        }
    }
}

/* One order of arrivals, as a number with a digit for each. 0: a flow is in it twice. */
static int arrive(struct order *order, uint32_t arrivals, uint32_t keys, uint32_t base)
{
    uint32_t members = 0;

    memset(order, 0, sizeof *order);
    attach(order);
    for (uint32_t i = 0; i < FLOWS; i++, arrivals /= FLOWS) {
        uint8_t flow = (uint8_t)(arrivals % FLOWS);
        uint32_t key = keys;

        if ((members >> flow & 1U) != 0) {
            return 0;
        }
        for (uint8_t j = 0; j < flow; j++) {
            key /= KEYS;
        }
        order->flows[flow].key = base + key % KEYS;
        nw_sched_order_add(&order->sched, flow);
        members |= 1U << flow;
        check_order(order, members);
    }
    return 1;
}

static void test_order(void **state)
{
    static const uint32_t bases[] = {0, 0xFFFFFFFFUL, 0x7FFFFFFEUL};
    struct order order;
    uint32_t orders = 0;

    (void)state;
    for (uint32_t which = 0; which < 6U; which++) {
        policy.flags = which % 2U != 0 ? NW_SCHED_BY_SORTED : 0;
        for (uint32_t arrivals = 0; arrivals < 3125U; arrivals++) {
            for (uint32_t keys = 0; keys < 243U; keys++) {
                if (!arrive(&order, arrivals, keys, bases[which / 2U])) {
                    break;
                }
                change_each(&order, bases[which / 2U]);
                orders++;
            }
        }
    }
    assert_int_equal(orders, 6U * 120U * 243U);
}

/* The ring of slots */

#define MOST_SLOTS 4U
#define CALLS 11U

enum call { HAND_IN, HAND_IN_TWO, TAKE_IN, END, CALL_KINDS };

struct ring {
    struct nw_sched sched;
    struct nw_sched_flow flow;
    struct nw_sched_slot slots[MOST_SLOTS];
    uint8_t numbers[MOST_SLOTS + 1U];
    uint8_t order[1];
    uint16_t waiting[MOST_SLOTS]; /* sequences of pieces: held first, then those handed in */
    uint8_t held;
    uint8_t count;
    uint16_t offered;
};

static void stand(struct ring *ring)
{
    ring->sched.flows = &ring->flow;
    ring->sched.slots = ring->slots;
    ring->sched.ring = ring->numbers;
    ring->sched.order = ring->order;
    ring->sched.policy = &policy;
}

static void hand_in(struct ring *ring, uint8_t pieces)
{
    struct nw_sched_offer offer = {.owner = &ring->sched, .size = (uint16_t)(10U * pieces)};
    int room = ring->count + pieces <= ring->sched.slot_count;
    int answer = pieces > ring->sched.slot_count ? NW_ERR_RANGE : room ? NW_OK : NW_ERR_FULL;

    ring->offered++;
    assert_int_equal(nw_sched_submit(&offer), answer);
    for (uint8_t i = 0; room && i < pieces; i++) {
        ring->waiting[ring->count++] = ring->offered;
    }
}

static void end_first(struct ring *ring)
{
    assert_int_equal(ring->slots[ring->flow.head].sequence, ring->waiting[0]);
    nw_sched_retire(&ring->sched, 0, NW_SCHED_MET);
    memmove(ring->waiting, ring->waiting + 1, sizeof ring->waiting - sizeof ring->waiting[0]);
    ring->count--;
    ring->held--;
}

/* Every sequence of so many calls from here. */
static uint32_t go_on(const struct ring *from, uint32_t calls)
{
    uint32_t ways = 1;

    for (uint32_t call = 0; calls > 0 && call < CALL_KINDS; call++) {
        struct ring ring = *from;

        stand(&ring);
        if (call <= HAND_IN_TWO) {
            hand_in(&ring, call == HAND_IN ? 1 : 2);
        } else if (call == TAKE_IN && ring.count > ring.held) {
            assert_int_equal(ring.slots[ring.numbers[ring.sched.take]].sequence,
                             ring.waiting[ring.held]);
            assert_int_equal(nw_sched_absorb(&ring.sched), 0);
            ring.held++;
        } else if (call == END && ring.held > 0) {
            end_first(&ring);
        } else {
            continue;
        }
        assert_int_equal(ring.sched.held, ring.held);
        ways += go_on(&ring, calls - 1U);
    }
    return ways;
}

static void test_ring(void **state)
{
    uint32_t ways = 0;

    (void)state;
    policy.flags = 0;
    for (uint8_t slots = 1; slots <= MOST_SLOTS; slots++) {
        struct ring ring = {.sched = {.flow_count = 1, .slot_count = slots}};

        ring.flow.limit = slots;
        ring.flow.taken = 254; /* wraps */
        ring.flow.ended = 254;
        ring.flow.place = NW_SCHED_NONE;
        ring.sched.flags = NW_SCHED_SPLIT;
        ring.sched.sector_bytes = 10;
        ring.sched.ring_size = (uint8_t)(slots + 1U);
        for (uint8_t i = 0; i <= slots; i++) {
            ring.numbers[i] = i;
        }
        ring.sched.back = slots;
        ways += go_on(&ring, CALLS);
    }
    print_message("%u states of the ring\n", (unsigned)ways);
    assert_true(ways > 100000U);
}

/* Positions in the store */

/* The byte of the chip at a position. */
static uint32_t byte_at(const struct nw_store *store, uint32_t at)
{
    return store_page_of(store, at) * store->page_bytes + store_offset_of(store, at);
}

/* From each place of small pages so far on, over two ends of pages. */
static void test_positions(void **state)
{
    (void)state;
    for (uint16_t page_bytes = 1; page_bytes <= 20U; page_bytes++) {
        struct nw_store store = {.page_bytes = page_bytes, .blocks = 3, .block_pages = 2};

        while (1U << store.shift <= page_bytes) {
            store.shift++;
        }
        for (uint32_t from = 0; from < 6U * page_bytes; from++) {
            uint32_t at = store_at(&store, from / page_bytes, (uint16_t)(from % page_bytes));

            assert_int_equal(byte_at(&store, at), from);
            assert_int_equal(store_block_of(&store, at), from / (2U * page_bytes));
            assert_int_equal(store_place_of(&store, store_page_of(&store, at)),
                             from / page_bytes % 2U);
            for (uint32_t bytes = 0; bytes <= 2U * page_bytes; bytes++) {
                uint32_t to = store_after(&store, at, bytes);

                assert_int_equal(byte_at(&store, to), from + bytes);
                assert_true(store_offset_of(&store, to) <= page_bytes);
            }
        }
        assert_int_equal(store_block_with(&store, 6), STORE_NO_BLOCK);
        for (uint16_t unit = 1; unit <= page_bytes; unit++) {
            store.program_bytes = unit;
            for (uint16_t offset = 0; offset <= page_bytes; offset++) {
                uint16_t up = store_align_up(&store, offset);

                assert_true(up % unit == 0 && up >= offset && up - offset < unit);
            }
        }
    }
}

/* Each block from each on chips of 1 to 40 blocks, and some from each on the largest. */
static void test_blocks_in_the_round(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= 43U; size++) {
        uint32_t blocks = size <= 40U ? size : 65491U + size;
        struct nw_store store = {.blocks = (uint16_t)blocks};

        for (uint32_t i = 0; i < 40U && i < blocks; i++) {
            uint32_t block = i % 2U == 0 ? i / 2U : blocks - 1U - i / 2U;

            store.tail = (uint16_t)block;
            for (uint32_t ahead = 0; ahead < blocks; ahead++) {
                uint16_t to = store_block_ahead(&store, (uint16_t)block, (uint16_t)ahead);

                if (to != (block + ahead) % blocks || store_blocks_to(&store, to) != ahead ||
                    store_next_block(&store, store_block_before(&store, to)) != to) {
                    fail_msg("%u of %u blocks, %u on", (unsigned)block, (unsigned)blocks,
                             (unsigned)ahead);
                }
            }
        }
    }
}

static void test_keys_and_serials(void **state)
{
    static const uint32_t keys[] = {0, 1, 255, 256, 65535, 65536, 0x7FFFFFFFUL, 0xFFFFFFFFUL};

    (void)state;
    for (uint8_t shift = 1; shift <= 8U; shift++) {
        struct nw_store store = {.fan_shift = shift};

        for (uint8_t digits = 0; digits <= 40U; digits++) {
            for (uint32_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
                uint64_t wanted = keys[i];

                for (uint8_t digit = 0; digit < digits; digit++) {
                    wanted >>= shift;
                }
                assert_int_equal(store_shorten(&store, keys[i], digits), wanted);
            }
        }
    }
    assert_int_equal(store_number_of(0), 0);
    for (uint32_t serial = 1; serial < 100000U; serial++) {
        int number = store_number_of(serial);

        assert_true(number >= 1 && number <= 32767);
        assert_int_equal(store_number_of(serial + 1U), number % 32767 + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc16),
        cmocka_unit_test(test_crc32),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_period),
        cmocka_unit_test(test_secded),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_blocks_in_the_round),
        cmocka_unit_test(test_keys_and_serials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
