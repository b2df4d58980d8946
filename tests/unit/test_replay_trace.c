/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: each format of trace is told by its content and read to the byte and nanosecond, whatever
 * it is packed in; what is wrong is told with its place; nothing is dropped in silence. */
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
#include <zlib.h>
#include <zstd.h>

#include "nandwich-replay/survey.h"
#include "nandwich-replay/iotrace.h"
#include "nandwich/error.h"

#define MOST 64

static char path[64];

static void put_file(const void *bytes, size_t count)
{
    FILE *file;
    int handle;

    strcpy(path, "nw-trace-XXXXXX");
    handle = mkstemp(path);
    assert_true(handle >= 0);
    file = fdopen(handle, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* All requests of the file at `path`, or the error. */
static int read_all(const struct nw_iotrace_config *given, struct nw_io *ios, const char *format,
                    struct nw_iotrace_fault *fault, const char *packing)
{
    struct nw_iotrace_config config = {.unit = NW_IOTRACE_ALL_UNITS};
    struct nw_iotrace *trace;
    struct nw_io_source *source;
    int count = 0, got;

    config = given != NULL ? *given : config;
    got = nw_iotrace_open(&trace, path, &config, fault);
    if (got < 0) {
        return got;
    }
    if (format != NULL) {
        assert_string_equal(nw_iotrace_format_name(trace), format);
    }
    assert_string_equal(nw_iotrace_packing(trace), packing != NULL ? packing : "plain");
    source = nw_iotrace_source(trace);
    for (int pass = 0; pass < 2; pass++) { /* the second after a rewind */
        count = 0;
        while ((got = source->ops->fill(source, ios + count, 3)) > 0) {
            count += got;
            assert_true(count < MOST - 3);
        }
        assert_int_equal(source->ops->rewind(source), NW_OK);
    }
    *fault = *nw_iotrace_fault_of(trace);
    nw_iotrace_close(trace);
    return got < 0 ? got : count;
}

struct sample {
    const char *format;
    const char *text;
    int count;
    struct nw_io ios[4];
};

/* The end of a request's row: of no class and nobody's, which test_applications looks at. */
#define R NW_IO_READ, 0, 0
#define W NW_IO_WRITE, 0, 0
#define T NW_IO_TRIM, 0, 0
#define S NW_IO_SYNC, 0, 0

static const struct sample samples[] = {
    {"msr",
     "128166372003061629,hm,1,Read,383496192,32768,413\n"
     "128166372016382155,hm,1,Write,2822144,4096,1202\n"
     "128166372003061628,hm,1,Write,0,4096,1202\n", /* before the first */
     3,
     {{0, 383496192, 32768, 1, R}, {1332052600, 2822144, 4096, 1, W},
      {0, 0, 4096, 1, W}}},
    {"spc",
     "0,20941264,8192,W,0.551706\n0,20939840,8192,r,0.554041\n1,3436288,15872,w,1.011732,extra\n",
     3,
     {{0, 20941264ULL * 512, 8192, 0, W},
      {2335000, 20939840ULL * 512, 8192, 0, R},
      {460026000, 3436288ULL * 512, 15872, 1, W}}},
    {"android",
     "proces,device,rw_flag,sector,size,timestamp\n"
     "kworker/5:1H-231,8388608,R,19676376,8,49680.6426\n"
     "<...>-5115,8388608,W,16,32,49680.645025000005\r\n",
     2,
     {{0, 19676376ULL * 512, 4096, 8388608, R}, {2425000, 8192, 16384, 8388608, W}}},
    {"blkparse",
     "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n"
     "  8,0    3        2     0.000001829   697  P   N [kjournald]\n"
     "  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]\n"
     "  8,16   1        4     1.500002197   697  Q  RA 100 + 16 [cat]\n"
     "  8,0    3        5     1.600000000   697  D   W 223490 + 8 [kjournald]\n"
     "  8,0    3        6     1.700000000   697  Q   D 64 + 128 [fstrim]\n"
     "  8,0    3        7     1.800000000   697  Q FWS [jbd2]\n"
     "CPU3 (8,0):\n Reads Queued:           1,        8KiB\n",
     4,
     {{0, 223490ULL * 512, 4096, 8 << 20, W},
      {1500000000, 51200, 8192, (8 << 20) | 16, R},
      {1699997803, 32768, 65536, 8 << 20, T},
      {1799997803, 0, 0, 8 << 20, S}}},
    {"fio",
     "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 4096 8192\n"
     "/dev/sda wait 1500 0\n/dev/sda read 0 512\n/dev/sda sync\n/dev/sda trim 0 4096\n"
     "/dev/sda close\n",
     4,
     {{0, 4096, 8192, 0, W}, {1500000, 0, 512, 0, R}, {1500000, 0, 0, 0, S},
      {1500000, 0, 4096, 0, T}}},
    {"fio",
     "fio version 3 iolog\n10 /dev/sda add\n10 /dev/sda open\n15 /dev/sda write 4096 8192\n"
     "1515 /dev/sda datasync 0 0\n2000 /dev/sda read 0 512\n",
     3,
     {{0, 4096, 8192, 0, W}, {1500000, 0, 0, 0, S}, {1985000, 0, 512, 0, R}}},
    {"disksim",
     "# time dev block size flags\n0.123456 0 4670208 8 0\n1.5 0 100 16 1\n2.0 1 7 1 0x3\n",
     3,
     {{0, 4670208ULL * 512, 4096, 0, W}, {1376544, 51200, 8192, 0, R}, {1876544, 3584, 512, 1, R}}},
    /* The same columns with whole ns were read as ms: a trace of a minute lasted two years. */
    {"ssdsim",
     "# time dev block size flags\n8225180 0 4670208 8 0\n9601724 0 100 16 1\n9601725 1 7 1 1\n",
     3,
     {{0, 4670208ULL * 512, 4096, 0, W}, {1376544, 51200, 8192, 0, R}, {1376545, 3584, 512, 1, R}}},
    {"fiu",
     "89966400000000 4892 syslogd 904265560 8 W 6 0 531e779d84290b2ca8d4ab9b4e0eb2b9\n"
     "89966400004242 4892 syslogd 904265568 8 R 6 0 631e779d84290b2ca8d4ab9b4e0eb2b9\n",
     2,
     {{0, 904265560ULL * 512, 4096, 6 << 20, W}, {4242, 904265568ULL * 512, 4096, 6 << 20, R}}},
    {"wiscsee",
     "39949 D read 299008 4096 0.000000000 0 False\n0 C read 299008 4096 0.0001 0.0001 False\n"
     "39949 D write 4096 8192 0.000196695 7.3902e-05 True\n39949 D discard 0 4096 0.5 0 False\n",
     3,
     {{0, 299008, 4096, 0, R}, {196695, 4096, 8192, 0, W}, {500000000, 0, 4096, 0, T}}},
};

static void assert_same(const struct nw_io *got, const struct nw_io *want, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(got[i].time_ns, want[i].time_ns);
        assert_int_equal(got[i].offset, want[i].offset);
        assert_int_equal(got[i].bytes, want[i].bytes);
        assert_int_equal(got[i].unit, want[i].unit);
        assert_int_equal(got[i].kind, want[i].kind);
    }
}

static size_t pack(int how, const char *text, uint8_t *to, size_t room)
{
    size_t length = strlen(text);

    if (how == 1) {
        z_stream stream = {0};
        size_t used;

        assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
                         Z_OK);
        stream.next_in = (Bytef *)(uintptr_t)text;
        stream.avail_in = (uInt)length;
        stream.next_out = to;
        stream.avail_out = (uInt)room;
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        used = room - stream.avail_out;
        assert_int_equal(deflateEnd(&stream), Z_OK);
        return used;
    }
    length = how == 2 ? ZSTD_compress(to, room, text, length, 3) : length;
    assert_int_equal(ZSTD_isError(length), 0);
    if (how == 0) {
        memcpy(to, text, length);
    }
    return length;
}

static void test_every_format_in_every_packing(void **state)
{
    static const char *const packings[] = {"plain", "gzip", "zstd"};
    struct nw_iotrace_fault fault;
    struct nw_io ios[MOST];
    uint8_t packed[4096];

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct sample *sample = &samples[i];

        for (int how = 0; how < 3; how++) {
            put_file(packed, pack(how, sample->text, packed, sizeof packed));
            int got = read_all(NULL, ios, sample->format, &fault, packings[how]);
            assert_int_equal(unlink(path), 0);
            assert_int_equal(got, sample->count);
            assert_same(ios, sample->ios, sample->count);
        }
    }
}

/* What format a trace has, if none of its times has a point, is the caller's to say. */
static void test_whole_ms_of_disksim(void **state)
{
    static const char text[] = "0 0 8 8 0\n5 0 16 8 1\n";
    const struct nw_iotrace_config config = {.format = "disksim", .unit = NW_IOTRACE_ALL_UNITS};
    struct nw_iotrace_fault fault;
    struct nw_io ios[MOST];

    (void)state;
    put_file(text, sizeof text - 1U);
    assert_int_equal(read_all(&config, ios, "disksim", &fault, NULL), 2);
    assert_int_equal(ios[1].time_ns, 5000000);
    assert_int_equal(read_all(NULL, ios, "ssdsim", &fault, NULL), 2);
    assert_int_equal(ios[1].time_ns, 5);
    assert_int_equal(unlink(path), 0);
}

/* Requests of no bytes vanished without a word. */
static void test_requests_of_no_bytes_are_counted(void **state)
{
    static const char text[] = "0,8,0,R,0.1\n0,8,512,R,0.2\n0,8,0,R,0.3\n0,8,0,W,0.4\n";
    const struct nw_iotrace_config config = {.unit = NW_IOTRACE_ALL_UNITS};
    struct nw_iotrace_fault fault;
    struct nw_iotrace *trace;
    struct nw_io ios[MOST];

    (void)state;
    put_file(text, sizeof text - 1U);
    assert_int_equal(nw_iotrace_open(&trace, path, &config, &fault), NW_OK);
    for (int pass = 0; pass < 2; pass++) {
        struct nw_io_source *source = nw_iotrace_source(trace);

        assert_int_equal(source->ops->fill(source, ios, MOST), 2);
        assert_int_equal(ios[0].kind, NW_IO_READ);
        assert_int_equal(ios[1].kind, NW_IO_SYNC); /* a write of nothing is a flush */
        assert_int_equal(nw_iotrace_empty(trace), 2);
        assert_int_equal(source->ops->rewind(source), NW_OK);
    }
    nw_iotrace_close(trace);
    assert_int_equal(unlink(path), 0);
}

static void put64(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

static void test_vscsi(void **state)
{
    struct nw_iotrace_fault fault;
    struct nw_io ios[MOST];

    (void)state;
    for (uint8_t version = 1; version <= 2; version++) {
        uint32_t size = version == 1 ? 32 : 40;
        uint8_t bytes[200] = {0};
        static const uint8_t commands[] = {0x2A, 0x12, 0x28, 0x35};

        for (uint32_t i = 0; i < 4; i++) {
            uint8_t *record = bytes + i * size;

            record[version == 1 ? 12 : 0] = commands[i];
            record[version == 1 ? 15 : 3] = version;
            record[(version == 1 ? 4 : 8) + 1] = 0x10; /* 4096 B */
            put64(record + 16, 1000 + i);
            put64(record + 24, 5000000 + i);
        }
        put_file(bytes, 4 * size + 7); /* the last record is cut short */
        struct nw_iotrace_config config = {.skip_bad = 1, .unit = NW_IOTRACE_ALL_UNITS};
        assert_int_equal(read_all(NULL, ios, "vscsi", &fault, NULL), NW_ERR_CORRUPT);
        assert_int_equal(fault.line, 5);
        assert_int_equal(read_all(&config, ios, "vscsi", &fault, NULL), 3);
        assert_same(ios,
                    (struct nw_io[]){{0, 512000, 4096, 0, W},
                                     {2000, 1002 * 512, 4096, 0, R},
                                     {3000, 0, 0, 0, S}},
                    3);
        assert_int_equal(unlink(path), 0);
    }
}

static void test_bad_lines_have_a_place(void **state)
{
    static const struct {
        const char *text;
        uint64_t line;
        uint32_t column;
        const char *says;
    } cases[] = {
        {"0,1,512,W,0.1\n0,2,512,X,0.2\n", 2, 9, "wanted R or W: 0,2,512,X,0.2"},
        {"0,1,512,W,0.1\n\n0,2,,R,0.2\n", 3, 5, "wanted a number: 0,2,,R,0.2"},
        {"0,1,512,W,0.1\n0;2\n", 2, 2, "wanted a comma: 0;2"},
        {"0,1,512,W,0.1\n0,99999999999999999999,512,W,1\n", 2, 3, "wanted a number below 2^64"},
        {"0,1,512,W,0.1\n0,18446744073709551616,512,W,1\n", 2, 3, "wanted a number below 2^64"},
        {"0,1,512,W,0.1\n0,9999999999999999999,512,W,1\n", 2, 3, "wanted an address below"},
        {"0.5 0 1 8 0\n0.6 0 1 8 0 7\n", 2, 13, "wanted the end of the line"},
        {"fio version 3 iolog\n1 /a read 0 512\n2 /a rite 0 512\n", 3, 6, "wanted read, write"},
        {"0,1,512,W,0.1\n0,2,512,W,0.2x\n", 2, 14, "wanted the end of the field"},
        {"0,1,512,W,0.1\n0,2,512,W,0.2.3\n", 2, 14, "wanted the end of the field"},
        {"1,hm,1,Read,0,512,4\n2,hm,1,Read,0,512,4-\n", 2, 20, "wanted the end of the field"},
        {"1,hm,1,Read,0,512,4\n184467440737095517,hm,1,Read,0,512,4\n", 2, 1, "wanted a time"},
        {"fio version 3 iolog\n1 /a read 0 512\n2 /a read 0 512k\n", 3, 16, "the end of the field"},
        {"fio version 3 iolog\n1 /a read 0 512\n99999999999999999 /a read 0 512\n", 3, 1,
         "wanted a time"},
        {"fio version 2 iolog\n/a read 0 512\n/a wait 18446744073709551 0\n/a wait 1 0\n", 4, 9,
         "wanted times"},
    };
    struct nw_iotrace_fault fault;
    struct nw_io ios[MOST];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nw_iotrace_config config = {.skip_bad = 1, .unit = NW_IOTRACE_ALL_UNITS};

        put_file(cases[i].text, strlen(cases[i].text));
        assert_int_equal(read_all(NULL, ios, NULL, &fault, NULL), NW_ERR_CORRUPT);
        assert_int_equal(fault.line, cases[i].line);
        assert_int_equal(fault.column, cases[i].column);
        assert_non_null(strstr(fault.text, cases[i].says));
        assert_int_equal(read_all(&config, ios, NULL, &fault, NULL), 1);
        assert_int_equal(unlink(path), 0);
    }
}

static void test_files_that_are_no_traces(void **state)
{
    struct nw_iotrace_config config = {.format = "spc", .unit = NW_IOTRACE_ALL_UNITS};
    struct nw_iotrace_fault fault;
    struct nw_io ios[MOST];
    uint8_t packed[256];
    size_t length;

    (void)state;
    put_file("Dear diary,\nnothing 4 today\n", 28);
    assert_int_equal(read_all(NULL, ios, NULL, &fault, NULL), NW_ERR_NOT_FOUND);
    assert_non_null(strstr(fault.text, "Dear diary"));
    assert_int_equal(read_all(&config, ios, NULL, &fault, NULL), NW_ERR_CORRUPT);
    config.format = "nosuch";
    assert_int_equal(read_all(&config, ios, NULL, &fault, NULL), NW_ERR_CONFIG);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(read_all(NULL, ios, NULL, &fault, NULL), NW_ERR_IO);

    put_file("", 0);
    assert_int_equal(read_all(NULL, ios, NULL, &fault, NULL), NW_ERR_NOT_FOUND);
    assert_non_null(strstr(fault.text, "empty"));
    assert_int_equal(unlink(path), 0);

    put_file("# only\n# comments\n", 18); /* a format that was asked for, but no request */
    config.format = "msr";
    assert_int_equal(read_all(&config, ios, NULL, &fault, NULL), NW_ERR_NOT_FOUND);
    assert_non_null(strstr(fault.text, "not one request"));
    assert_int_equal(unlink(path), 0);

    for (int how = 1; how <= 2; how++) { /* cut off */
        length = pack(how, samples[3].text, packed, sizeof packed);
        put_file(packed, length - 9);
        assert_true(read_all(NULL, ios, NULL, &fault, NULL) < 0);
        assert_int_equal(unlink(path), 0);
    }
}

/* `nandwich run --record` of a program that fits its frames. The message was "the first lines are
 * of no known format: fio version 2 iolog". */
static void test_logs_of_fio_without_a_request(void **state)
{
    static const struct {
        const char *text;
        int error;
        const char *says;
    } cases[] = {
        {"fio version 2 iolog", NW_ERR_NOT_FOUND, "1 lines and not one request of format fio"},
        {"fio version 2 iolog\nvm add\nvm open\n", NW_ERR_NOT_FOUND, "not one request"},
        {"fio version 3 iolog\n0 vm add\n9 vm close\n", NW_ERR_NOT_FOUND, "not one request"},
        {"fio version 4 iolog\n0 vm add\n", NW_ERR_CORRUPT, "wanted version 2 or 3"},
    };
    struct nw_iotrace_fault fault;
    struct nw_io ios[MOST];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file(cases[i].text, strlen(cases[i].text));
        assert_int_equal(read_all(NULL, ios, "fio", &fault, NULL), cases[i].error);
        assert_non_null(strstr(fault.text, cases[i].says));
        assert_int_equal(unlink(path), 0);
    }
}

static void test_one_unit_of_several(void **state)
{
    struct nw_iotrace_config config = {.unit = 1};
    struct nw_iotrace_fault fault;
    struct nw_io ios[MOST];

    (void)state;
    put_file(samples[1].text, strlen(samples[1].text));
    assert_int_equal(read_all(&config, ios, "spc", &fault, NULL), 1);
    assert_int_equal(ios[0].offset, 3436288ULL * 512);
    assert_int_equal(ios[0].time_ns, 0);
    config.unit = 9;
    assert_int_equal(read_all(&config, ios, "spc", &fault, NULL), NW_ERR_NOT_FOUND);
    assert_non_null(strstr(fault.text, "for that unit"));
    assert_int_equal(unlink(path), 0);
}

/* Lines that straddle the reader's buffer, and one that has none. */
static void test_long_files(void **state)
{
    struct nw_iotrace_config config = {.unit = NW_IOTRACE_ALL_UNITS, .skip_bad = 2};
    size_t lines = 60000, room = lines * 32 + 400000, at = 0;
    char *text = malloc(room);
    struct nw_iotrace_fault fault;
    struct nw_iotrace *trace;
    static struct nw_survey survey;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < lines; i++) {
        at += (size_t)snprintf(text + at, room - at, "0,%zu,512,W,%zu.5\n", i * 3, i);
        if (i == 30000) { /* longer than the buffer */
            memset(text + at, 'x', 300000);
            at += 300000;
            text[at++] = '\n';
        }
    }
    put_file(text, at - 1); /* without its last line end */
    free(text);
    assert_int_equal(nw_iotrace_open(&trace, path, &config, &fault), NW_OK);
    assert_int_equal(nw_survey_run(&survey, nw_iotrace_source(trace), UINT64_MAX), 0);
    assert_int_equal(survey.requests, lines);
    assert_int_equal(survey.count[NW_IO_WRITE], lines);
    assert_int_equal(survey.bytes[NW_IO_WRITE], lines * 512);
    assert_int_equal(survey.extent, (lines - 1) * 3 * 512 + 512);
    assert_int_equal(survey.last_ns, (lines - 1) * 1000000000ULL);
    assert_int_equal(survey.align, 512);
    assert_int_equal(survey.in_order, 0);
    assert_int_equal(survey.unit_count, 1);
    assert_in_range(nw_iotrace_skipped(trace), 1, 2);
    nw_iotrace_close(trace);
    assert_int_equal(unlink(path), 0);
}

static int is_plain(const struct nw_io *io)
{
    return io->kind == NW_IO_READ || io->kind == NW_IO_WRITE;
}

static void test_what_is_written_reads_back(void **state)
{
    static const struct nw_io ios[] = {
        {0, 512, 4096, 0, W}, {1500000, 0, 512, 0, R}, {1500000, 0, 0, 0, S},
        {2000000000, 8192, 1024, 0, T}, {3000000700, 1ULL << 40, 1536, 0, R},
    };
    static const struct {
        const char *name;
        const char *suffix;
        int says_all;
        uint64_t grain_ns;
    } formats[] = {
        {"msr", "", 0, 100}, {"spc", ".gz", 0, 1},     {"android", ".gz", 0, 1},
        {"fio", "", 1, 1000}, {"disksim", ".gz", 0, 1},
    };
    struct nw_iotrace_writer *writer;
    struct nw_iotrace_fault fault;
    struct nw_io got[MOST];

    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        int written = 0, count;

        put_file("", 0);
        assert_int_equal(unlink(path), 0);
        strcat(path, formats[f].suffix);
        assert_int_equal(nw_iotrace_create(&writer, path, formats[f].name), NW_OK);
        for (size_t i = 0; i < sizeof ios / sizeof ios[0]; i++) {
            int status = nw_iotrace_put(writer, &ios[i]);

            assert_int_equal(status, formats[f].says_all || is_plain(&ios[i]));
            written += status;
        }
        assert_int_equal(nw_iotrace_finish(writer), NW_OK);
        count = read_all(NULL, got, formats[f].name, &fault,
                         formats[f].suffix[0] != '\0' ? "gzip" : "plain");
        assert_int_equal(count, written);
        for (size_t i = 0, at = 0; i < sizeof ios / sizeof ios[0]; i++) {
            struct nw_io want = ios[i];

            want.time_ns -= want.time_ns % formats[f].grain_ns;
            if (formats[f].says_all || is_plain(&want)) {
                assert_same(&got[at++], &want, 1);
            }
        }
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(nw_iotrace_create(&writer, path, "vscsi"), NW_ERR_CONFIG);
    put_file("", 0);
    char within[sizeof path + 2];
    (void)snprintf(within, sizeof within, "%s/x", path); /* a file is no folder */
    assert_int_equal(nw_iotrace_create(&writer, within, "msr"), NW_ERR_IO);
    assert_int_equal(unlink(path), 0);
}

struct named {
    const char *text;
    const char *apps[4]; /* of each request; NULL: nobody */
    int count;
};

static const struct named named[] = {
    {"proces,device,rw_flag,sector,size,timestamp\nweb-cat-17,1,R,8,8,1.5\n"
     "jbd2/sda1-8,1,W,8,8,2.5\n"
     "web-cat-18,1,R,8,8,3.5\n,1,R,8,8,4.5\n",
     {"web-cat", "jbd2/sda1", "web-cat", NULL}, 4},
    {"  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]\n"
     "  8,16   1        4     1.500002197   697  Q  RA 100 + 16 [cat]\n"
     "  8,0    3        7     1.800000000   697  Q FWS [jbd2]\n"
     "  8,0    3        8     1.900000000   697  Q   W 223490 + 8 [a b]\n",
     {"kjournald", "cat", NULL, "a b"}, 4},
    {"899664 48 syslogd 9042 8 W 6 0 531e\n899666 49 nfsd 904 8 R 6 0 631e\n",
     {"syslogd", "nfsd"}, 2},
    {"39949 D read 299008 4096 0.0 0 False\n7 D write 4096 8192 0.1 7.3902e-05 True\n",
     {"39949", "7"}, 2},
};

/* Who asked is known by name, the same in each pass. */
static void test_applications(void **state)
{
    struct nw_iotrace_config config = {.unit = NW_IOTRACE_ALL_UNITS};
    struct nw_iotrace_fault fault;
    struct nw_iotrace *trace;
    struct nw_io ios[MOST];

    (void)state;
    for (size_t n = 0; n < sizeof named / sizeof named[0]; n++) {
        put_file(named[n].text, strlen(named[n].text));
        assert_int_equal(nw_iotrace_open(&trace, path, &config, &fault), NW_OK);
        struct nw_io_source *source = nw_iotrace_source(trace);

        assert_null(nw_iotrace_app(trace, 1)); /* none was met so far */
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(source->ops->fill(source, ios, MOST), named[n].count);
            assert_int_equal(source->ops->rewind(source), NW_OK);
            for (int i = 0; i < named[n].count; i++) {
                const char *app = nw_iotrace_app(trace, ios[i].app);

                assert_int_equal(ios[i].content, 0);
                if (named[n].apps[i] == NULL) {
                    assert_null(app);
                } else {
                    assert_non_null(app);
                    assert_string_equal(app, named[n].apps[i]);
                }
            }
        }
        nw_iotrace_close(trace);
        assert_int_equal(unlink(path), 0);
    }
}

/* One more than there is room for is nobody's; names that are too long are cut. */
static void test_too_many_applications(void **state)
{
    struct nw_iotrace_config config = {.unit = NW_IOTRACE_ALL_UNITS};
    size_t room = (size_t)(NW_IOTRACE_APPS + 1U) * 128U, at = 0;
    struct nw_io *ios = calloc(NW_IOTRACE_APPS + 1U, sizeof *ios);
    struct nw_iotrace_fault fault;
    struct nw_iotrace *trace;
    char *text = malloc(room);

    (void)state;
    assert_non_null(text);
    assert_non_null(ios);
    for (uint32_t i = 0; i <= NW_IOTRACE_APPS; i++) {
        at += (size_t)snprintf(text + at, room - at, "n%04u%064u,1,R,8,8,1.5\n", i, 0U);
    }
    put_file(text, at);
    assert_int_equal(nw_iotrace_open(&trace, path, &config, &fault), NW_OK);
    struct nw_io_source *source = nw_iotrace_source(trace);
    assert_int_equal(source->ops->fill(source, ios, NW_IOTRACE_APPS + 1U), NW_IOTRACE_APPS + 1U);
    for (uint32_t i = 0; i <= NW_IOTRACE_APPS; i++) {
        assert_int_equal(ios[i].app, i < NW_IOTRACE_APPS ? i + 1U : 0U);
    }
    assert_int_equal(strlen(nw_iotrace_app(trace, 1)), NW_IOTRACE_APP_BYTES - 1U);
    assert_null(nw_iotrace_app(trace, NW_IOTRACE_APPS + 1U));
    nw_iotrace_close(trace);
    assert_int_equal(unlink(path), 0);
    free(text);
    free(ios);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_in_every_packing),
        cmocka_unit_test(test_whole_ms_of_disksim),
        cmocka_unit_test(test_requests_of_no_bytes_are_counted),
        cmocka_unit_test(test_vscsi),
        cmocka_unit_test(test_bad_lines_have_a_place),
        cmocka_unit_test(test_files_that_are_no_traces),
        cmocka_unit_test(test_logs_of_fio_without_a_request),
        cmocka_unit_test(test_one_unit_of_several),
        cmocka_unit_test(test_long_files),
        cmocka_unit_test(test_what_is_written_reads_back),
        cmocka_unit_test(test_applications),
        cmocka_unit_test(test_too_many_applications),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
