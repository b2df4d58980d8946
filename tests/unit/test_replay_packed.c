/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: a packed trace gives back every request as it was put, applications with it, and no file of
 * any content does more than answer an error; a sample has all requests to its pages and no other.
 */
#define _DEFAULT_SOURCE /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nandwich-replay/iotrace.h"
#include "nandwich-replay/sample.h"
#include "nandwich/error.h"
#include "nandwich/random.h"

#define COUNT 4000U
#define PAGE 4096U

static struct nw_io made[COUNT];
static struct nw_io seen[2U * COUNT];
static uint32_t next;

static int list_fill(struct nw_io_source *source, struct nw_io *to, uint32_t room)
{
    uint32_t count = COUNT - next < room ? COUNT - next : room;

    (void)source;
    memcpy(to, made + next, count * sizeof *to);
    next += count;
    return (int)count;
}

static int list_rewind(struct nw_io_source *source)
{
    (void)source;
    next = 0;
    return NW_OK;
}

static const struct nw_io_source_ops list_ops = {list_fill, list_rewind};

/* A number with few or many bits. */
static uint64_t some(struct nw_random *random)
{
    uint64_t value = (uint64_t)nw_random_next(random) << 32 | nw_random_next(random);

    return value >> nw_random_next(random) % 64U;
}

/* Times that step back, places in sectors or not, runs in order, devices, syncs. */
static void make(uint32_t seed)
{
    struct nw_random random;
    uint64_t end = 0;

    nw_random_seed(&random, seed);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct nw_io *io = &made[i];
        uint64_t grain = nw_random_next(&random) % 4U > 0 ? 512U : 1U;

        *io = (struct nw_io){.kind = (uint8_t)(nw_random_next(&random) % 4U)};
        io->time_ns = i == 0 ? 0 : some(&random) >> 1;
        io->unit = nw_random_next(&random) % 8U == 0 ? some(&random) >> 1 : 7U;
        if (io->kind != NW_IO_SYNC) {
            io->bytes = (1U + nw_random_next(&random) % 200U) * grain;
            io->offset = nw_random_next(&random) % 2U == 0 ? end : (some(&random) >> 12) * grain;
            end = io->offset + io->bytes;
        }
    }
}

static void name_file(char path[32])
{
    int file;

    strcpy(path, "nw-packed-XXXXXX");
    file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
}

static void write_file(const char *path, const struct nw_iotrace *names)
{
    struct nw_iotrace_writer *writer;

    assert_int_equal(nw_iotrace_create(&writer, path, "packed"), NW_OK);
    if (names != NULL) {
        nw_iotrace_name_apps(writer, names);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(nw_iotrace_put(writer, &made[i]), 1);
    }
    assert_int_equal(nw_iotrace_finish(writer), NW_OK);
}

static struct nw_iotrace *open_file(const char *path)
{
    const struct nw_iotrace_config config = {.unit = NW_IOTRACE_ALL_UNITS};
    struct nw_iotrace_fault fault;
    struct nw_iotrace *trace;

    assert_int_equal(nw_iotrace_open(&trace, path, &config, &fault), NW_OK);
    return trace;
}

/* How many requests, or an error. */
static int read_all(struct nw_io_source *source)
{
    int got = 1;
    uint32_t count = 0;

    while (got > 0 && count < 2U * COUNT - 7U) {
        got = source->ops->fill(source, seen + count, 7);
        count += got > 0 ? (uint32_t)got : 0;
    }
    return got < 0 ? got : (int)count;
}

static void test_what_was_put_comes_back(void **state)
{
    char path[32];

    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        make(seed);
        name_file(path);
        write_file(path, NULL);
        struct nw_iotrace *trace = open_file(path);
        struct nw_io_source *source = nw_iotrace_source(trace);

        assert_string_equal(nw_iotrace_format_name(trace), "packed");
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(read_all(source), COUNT);
            for (uint32_t i = 0; i < COUNT; i++) {
                assert_memory_equal(&seen[i], &made[i], sizeof made[i]);
            }
            assert_int_equal(source->ops->rewind(source), NW_OK);
        }
        nw_iotrace_close(trace);
        assert_int_equal(unlink(path), 0);
    }
}

/* Who asks goes from a text through two packed files; of a device that is left out nobody is
 * named. A number behind a hyphen belongs to no name, but for one that was packed with it. */
static void test_applications(void **state)
{
    static const char text[] = "process,device,rw,sector,size,timestamp\n"
                               "left,1,W,0,8,0.0\nmail-12,0,W,8,8,0.1\n<...>,0,R,0,8,0.2\n"
                               "maps,0,R,16,8,0.3\nmail-13,0,W,8,8,0.4\n";
    static const char *const wanted[] = {"mail", NULL, "maps", "mail"};
    const struct nw_iotrace_config config = {.unit = 0};
    struct nw_iotrace_fault fault;
    struct nw_iotrace *trace;
    char path[2][32];

    (void)state;
    name_file(path[0]);
    FILE *file = fopen(path[0], "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
    for (int step = 0; step < 3; step++) {
        struct nw_iotrace_writer *writer;

        assert_int_equal(nw_iotrace_open(&trace, path[step % 2], &config, &fault), NW_OK);
        assert_int_equal(read_all(nw_iotrace_source(trace)), 4);
        for (int i = 0; i < 4; i++) {
            const char *name = nw_iotrace_app(trace, seen[i].app);

            assert_int_equal(name == NULL, wanted[i] == NULL);
            assert_int_equal(name == NULL || strcmp(name, wanted[i]) == 0, 1);
        }
        name_file(path[1 - step % 2]);
        assert_int_equal(nw_iotrace_create(&writer, path[1 - step % 2], "packed"), NW_OK);
        nw_iotrace_name_apps(writer, trace);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(nw_iotrace_put(writer, &seen[i]), 1);
        }
        assert_int_equal(nw_iotrace_finish(writer), NW_OK);
        nw_iotrace_close(trace);
        assert_int_equal(unlink(path[step % 2]), 0);
    }
    assert_int_equal(unlink(path[1]), 0);
}

/* A file that ends behind the number of an application which has no name yet. */
static void test_ends_before_a_name(void **state)
{
    static const uint8_t bytes[] = {'N', 'W', 'I', 'O', '1', '\n', 0x80U | NW_IO_SYNC, 0, 1};
    char path[32];

    (void)state;
    name_file(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    assert_int_equal(fclose(file), 0);
    struct nw_iotrace *trace = open_file(path);
    assert_int_equal(read_all(nw_iotrace_source(trace)), NW_ERR_CORRUPT);
    nw_iotrace_close(trace);
    assert_int_equal(unlink(path), 0);
}

/* Each cut, and a wrong byte anywhere: requests and then an error, or other requests. */
static void test_damaged(void **state)
{
    static uint8_t bytes[64 * COUNT];
    struct nw_random random;
    char path[32];

    (void)state;
    nw_random_seed(&random, 1);
    make(1);
    name_file(path);
    write_file(path, NULL);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < 400; i++) {
        size_t at = 6U + nw_random_next(&random) % (length - 6U);
        size_t end = i % 2 == 0 ? at : length;
        uint8_t before = bytes[at];

        bytes[at] = (uint8_t)nw_random_next(&random);
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, end, file), end);
        assert_int_equal(fclose(file), 0);
        bytes[at] = before;
        struct nw_iotrace *trace = open_file(path);
        int got = read_all(nw_iotrace_source(trace));

        assert_true(got > 0 || got == NW_ERR_CORRUPT || got == NW_ERR_NOT_FOUND);
        nw_iotrace_close(trace);
    }
    assert_int_equal(unlink(path), 0);
}

static uint64_t pages_of(const struct nw_io *io)
{
    return (io->offset + io->bytes - 1U) / PAGE - io->offset / PAGE + 1U;
}

/* A page is in or out, whoever asks for it and in how long a request. */
static void test_samples(void **state)
{
    static uint8_t asked[1U << 16], met[1U << 16];
    struct nw_io_source list = {&list_ops, NULL};
    uint64_t pages[2] = {0, 0};
    struct nw_random random;
    struct nw_sample sample;
    uint32_t in = 0, all = 0;

    (void)state;
    nw_random_seed(&random, 5);
    memset(asked, 0, sizeof asked);
    memset(met, 0, sizeof met);
    for (uint32_t i = 0; i < COUNT; i++) {
        made[i] = (struct nw_io){.time_ns = i,
                                 .offset = nw_random_next(&random) % (PAGE << 15),
                                 .bytes = 1U + nw_random_next(&random) % (5U * PAGE),
                                 .kind = (uint8_t)(nw_random_next(&random) % 2U)};
        pages[made[i].kind] += pages_of(&made[i]);
        for (uint64_t page = 0; page < pages_of(&made[i]); page++) {
            asked[made[i].offset / PAGE + page]++;
        }
    }
    nw_sample_open(&sample, &list, PAGE, NW_SAMPLE_WHOLE / 4U);
    for (int pass = 0; pass < 2; pass++) {
        memset(met, 0, sizeof met);
        int count = read_all(&sample.source);

        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            for (uint64_t page = 0; page < pages_of(&seen[i]); page++) {
                met[seen[i].offset / PAGE + page]++;
            }
        }
        assert_int_equal(sample.pages[NW_IO_READ], pages[NW_IO_READ]);
        assert_int_equal(sample.pages[NW_IO_WRITE], pages[NW_IO_WRITE]);
        assert_int_equal(sample.source.ops->rewind(&sample.source), NW_OK);
    }
    for (uint32_t page = 0; page < sizeof met; page++) {
        assert_true(met[page] == 0 || met[page] == asked[page]);
        in += met[page] != 0;
        all += asked[page] != 0;
    }
    assert_in_range(in, all / 4U - all / 40U, all / 4U + all / 40U);
    nw_sample_open(&sample, &list, PAGE, NW_SAMPLE_WHOLE);
    next = 0;
    assert_int_equal(read_all(&sample.source), COUNT);
    assert_memory_equal(seen, made, sizeof made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_put_comes_back),
        cmocka_unit_test(test_applications),
        cmocka_unit_test(test_ends_before_a_name),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
