/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: a generator keeps the counts, shares, gaps and sizes its row promises, falls where it says,
 * and gives the same requests for the same seed; percentiles of the histogram are what they say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-replay/latency.h"
#include "nandwich-replay/workload.h"
#include "nandwich/error.h"

#define FOOTPRINT (256ULL << 20)

struct sums {
    uint64_t requests, writes, bytes, last_ns, in_order, beyond;
    uint64_t hash;
};

static struct nw_workload *make(struct nw_workload_config config, uint64_t seed)
{
    struct nw_workload *workload;
    const char *why;

    config.footprint = config.footprint != 0 ? config.footprint : FOOTPRINT;
    if (nw_workload_open(&workload, &config, seed, &why) < 0) {
        fail_msg("%s: %s", config.name, why);
    }
    return workload;
}

static struct sums add_up(struct nw_workload *workload)
{
    struct nw_io_source *source = nw_workload_source(workload);
    struct sums sums = {0};
    struct nw_io ios[100];
    uint64_t next = 0;
    int count;

    while ((count = source->ops->fill(source, ios, 100)) > 0) {
        for (int i = 0; i < count; i++) {
            assert_true(ios[i].bytes > 0 && ios[i].time_ns >= sums.last_ns);
            sums.requests++;
            sums.writes += ios[i].kind == NW_IO_WRITE;
            sums.bytes += ios[i].bytes;
            sums.last_ns = ios[i].time_ns;
            sums.in_order += ios[i].offset == next;
            sums.beyond += ios[i].offset + ios[i].bytes > FOOTPRINT;
            next = ios[i].offset + ios[i].bytes;
            sums.hash = (sums.hash ^ ios[i].offset ^ ios[i].bytes << 40) * 0x9E3779B97F4A7C15U;
        }
    }
    assert_int_equal(count, 0);
    return sums;
}

/* The study's table, typed in a second time: count, write %, gap ms, size KB. */
static const struct {
    const char *name;
    uint64_t requests;
    double writes, gap, size;
} published[] = {
    {"filecopy", 645895, 90.83, 8.19, 3.17},   {"sensor", 777945, 92.66, 8.12, 2.26},
    {"multimedia", 790925, 83.10, 196.90, 48.03}, {"nfs", 850700, 89.37, 8.40, 29.38},
    {"sdcard", 987970, 94.95, 38.30, 49.87},   {"ftp", 518575, 97.4, 72.97, 20.05},
};

static void test_the_six_have_the_published_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const struct nw_workload_config *config = nw_workload_find(published[i].name);
        struct nw_workload *workload = make(*config, 1);
        struct sums sums = add_up(workload);
        double count = (double)sums.requests;

        assert_int_equal(sums.requests, published[i].requests);
        assert_true(fabs((double)sums.writes * 100 / count - published[i].writes) < 0.2);
        assert_true(fabs((double)sums.last_ns / 1e6 / count / published[i].gap - 1) < 0.01);
        assert_true(fabs((double)sums.bytes / 1024 / count / published[i].size - 1) < 0.01);
        assert_int_equal(sums.beyond, 0);
        if (config->place == NW_PLACE_HOT) {
            double run = (double)sums.in_order * 1000 / count;
            assert_true(fabs(run - config->run) < 10);
        }
        nw_workload_close(workload);
    }
}

static void test_seed_and_rewind(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < nw_workload_count; i++) {
        struct nw_workload_config config = nw_workloads[i];
        struct nw_workload *one, *same, *other;
        struct nw_io_source *source;
        struct sums first;

        config.requests = 5000;
        one = make(config, 1);
        same = make(config, 1);
        other = make(config, 2);
        first = add_up(one);
        assert_int_equal(add_up(same).hash, first.hash);
        if (config.place != NW_PLACE_SEQUENTIAL) {
            assert_true(add_up(other).hash != first.hash);
        }
        assert_int_equal(add_up(one).requests, 0); /* at its end */
        source = nw_workload_source(one);
        assert_int_equal(source->ops->rewind(source), NW_OK);
        assert_int_equal(add_up(one).hash, first.hash);
        nw_workload_close(one);
        nw_workload_close(same);
        nw_workload_close(other);
    }
}

/* Counts of requests by 4 KB unit. */
static uint32_t *histogram(struct nw_workload *workload, uint32_t units)
{
    struct nw_io_source *source = nw_workload_source(workload);
    uint32_t *counts = calloc(units, sizeof *counts);
    struct nw_io ios[100];
    int count;

    assert_non_null(counts);
    while ((count = source->ops->fill(source, ios, 100)) > 0) {
        for (int i = 0; i < count; i++) {
            counts[ios[i].offset / 4096U]++;
        }
    }
    return counts;
}

static int larger_first(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return left < right ? 1 : left > right ? -1 : 0;
}

static void test_zipf_has_its_law(void **state)
{
    struct nw_workload_config config = *nw_workload_find("zipf");
    uint32_t units = 100000;
    uint32_t *counts;
    double harmonic = 0, front = 0, share = 0;
    struct nw_workload *workload;

    (void)state;
    config.footprint = (uint64_t)units * 4096U;
    config.requests = 2000000;
    workload = make(config, 5);
    counts = histogram(workload, units);
    for (uint32_t rank = 1; rank <= units; rank++) {
        harmonic += pow(rank, -0.99);
        front += rank <= 10000 ? pow(rank, -0.99) : 0;
    }
    /* Rank 1 is unit 0; its right neighbour is no favourite. */
    assert_true(fabs(counts[0] / (2000000.0 / harmonic) - 1) < 0.02);
    assert_true(counts[1] < counts[0] / 50);
    qsort(counts, units, sizeof *counts, larger_first);
    for (uint32_t rank = 1; rank <= 10000; rank++) {
        share += counts[rank - 1];
    }
    assert_true(fabs(share / 2000000.0 / (front / harmonic) - 1) < 0.01);
    free(counts);
    nw_workload_close(workload);
}

static void test_hot_and_cold(void **state)
{
    struct nw_workload_config config = *nw_workload_find("hotcold");
    uint32_t units = 10000, *counts;
    uint64_t hot = 0, all = 0;
    struct nw_workload *workload;

    (void)state;
    config.footprint = (uint64_t)units * 4096U;
    workload = make(config, 5);
    counts = histogram(workload, units);
    for (uint32_t i = 0; i < units; i++) {
        hot += i < 2000 ? counts[i] : 0;
        all += counts[i];
        assert_true(counts[i] > 0);
    }
    assert_int_equal(all, 1000000);
    assert_in_range(hot, 797000, 803000);
    free(counts);
    nw_workload_close(workload);
}

static void test_sequential_goes_round(void **state)
{
    struct nw_workload_config config = *nw_workload_find("sequential");
    struct nw_workload *workload;
    struct sums sums;

    (void)state;
    config.footprint = (64U << 10) * 10U + 4096U; /* no whole number of requests */
    config.requests = 100;
    workload = make(config, 5);
    sums = add_up(workload);
    assert_int_equal(sums.in_order, 100 - 9);
    nw_workload_close(workload);
    config.footprint = (64U << 10) * 10U; /* now it is: the last one ends with it */
    config.requests = 10;
    workload = make(config, 5);
    assert_int_equal(add_up(workload).in_order, 10);
    nw_workload_close(workload);
}

static void test_wrong_rows_are_refused(void **state)
{
    const struct nw_workload_config good = *nw_workload_find("zipf");
    struct nw_workload *workload;
    const char *why = NULL;

    (void)state;
    for (int wrong = 0; wrong < 6; wrong++) {
        struct nw_workload_config config = good;

        config.footprint = FOOTPRINT;
        config.requests = wrong == 0 ? 0 : config.requests;
        config.align = wrong == 1 ? 3000 : config.align;
        config.footprint = wrong == 2 ? 15U * 4096U : config.footprint;
        config.size = wrong == 3 ? 5000 : config.size;
        config.theta = wrong == 4 ? 0 : config.theta;
        config.hot_space = wrong == 5 ? 1001 : config.hot_space;
        assert_int_equal(nw_workload_open(&workload, &config, 1, &why), NW_ERR_CONFIG);
        assert_non_null(why);
        assert_null(workload);
    }
    assert_null(nw_workload_find("nosuch"));
}

static void test_percentiles(void **state)
{
    static struct nw_latency latency;

    (void)state;
    assert_int_equal(nw_latency_at(&latency, 500000), 0);
    for (uint64_t i = 1; i <= 1000; i++) {
        nw_latency_add(&latency, i * 1000);
    }
    assert_int_equal(latency.count, 1000);
    assert_int_equal(latency.sum_ns, 500500000);
    assert_in_range(nw_latency_at(&latency, 500000), 500000, 500000 + 500000 / 16);
    assert_in_range(nw_latency_at(&latency, 990000), 990000, 1000000);
    assert_int_equal(nw_latency_at(&latency, 1000000), 1000000);
    assert_in_range(nw_latency_at(&latency, 0), 1000, 1062);
    memset(&latency, 0, sizeof latency);
    for (uint64_t i = 1; i <= 3; i++) {
        nw_latency_add(&latency, i);
    }
    assert_int_equal(nw_latency_at(&latency, 500000), 2); /* half of three is two */
    memset(&latency, 0, sizeof latency);
    /* Each power of two and its neighbours fall where they are told from, up to the largest. */
    for (uint32_t bit = 0; bit < 64; bit++) {
        for (uint64_t value = (1ULL << bit) - (bit > 0); value <= 1ULL << bit; value++) {
            memset(&latency, 0, sizeof latency);
            nw_latency_add(&latency, value);
            assert_int_equal(nw_latency_at(&latency, 500000), value);
        }
    }
    memset(&latency, 0, sizeof latency);
    nw_latency_add(&latency, UINT64_MAX);
    assert_int_equal(nw_latency_at(&latency, 500000), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_six_have_the_published_figures),
        cmocka_unit_test(test_seed_and_rewind),
        cmocka_unit_test(test_zipf_has_its_law),
        cmocka_unit_test(test_hot_and_cold),
        cmocka_unit_test(test_sequential_goes_round),
        cmocka_unit_test(test_wrong_rows_are_refused),
        cmocka_unit_test(test_percentiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
