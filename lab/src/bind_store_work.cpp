// SPDX-License-Identifier: Apache-2.0
// The work by which stores are compared (bench/peers/src/work.rs does the same with others), looped
// in C and counted by the chip.
#include "bind_store.hpp"

#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace {

constexpr uint32_t kBatches = 200;
constexpr uint32_t kBatchReadings = 60;
constexpr uint32_t kBatchBytes = kBatchReadings * 4;
constexpr uint32_t kPieces = 10;
constexpr uint32_t kPieceBytes = 80;
constexpr uint16_t kFileBlock = 200; // fits a page of 256 bytes
constexpr uint32_t kOverwrites = 10000;
constexpr uint32_t kValues = 1024;
constexpr uint32_t kValueBytes = 64;

using Work = nb::typed<nb::dict, nb::str, nb::any>;

void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        to[i] = static_cast<uint8_t>(value >> (8 * i));
    }
}

// Counts what the chip does between a reset and tell().
class Window {
public:
    explicit Window(nw_nand *nand) : nand_(nand) { reset(); }

    void reset()
    {
        before_ = *nw_nand_stats(nand_);
        worst_ns_ = 0;
        begin();
    }

    void begin() { began_ns_ = nw_nand_meter(nand_)->time_ns; }

    // A call of the store has ended: the longest one is kept.
    void done()
    {
        worst_ns_ = std::max(worst_ns_, nw_nand_meter(nand_)->time_ns - began_ns_);
        begin();
    }

    Work tell(const std::string &work)
    {
        struct nw_nand_counts now = *nw_nand_stats(nand_);
        Work all;

        all["work"] = work;
#define COUNT(name) all[#name] = now.name - before_.name
        COUNT(reads);
        COUNT(bytes_read);
        COUNT(programs);
        COUNT(bytes_programmed);
        COUNT(erases);
#undef COUNT
        all["worst_ns"] = worst_ns_;
        reset();
        return all;
    }

private:
    nw_nand *nand_;
    struct nw_nand_counts before_;
    uint64_t worst_ns_ = 0;
    uint64_t began_ns_ = 0;
};

int create(nw_store *store, uint8_t type, uint16_t unit, uint32_t count)
{
    struct nw_store_spec spec = {};

    spec.type = type;
    spec.unit_bytes = unit;
    spec.count = count;
    return store_checked(nw_store_create(store, "data", &spec));
}

void expect(bool right)
{
    if (!right) {
        throw std::runtime_error("the store read other bytes than were written");
    }
}

void fill_batch(uint8_t *batch, uint32_t number)
{
    for (uint32_t i = 0; i < kBatchReadings; i++) {
        put32(batch + 4U * i, number * kBatchReadings + i);
    }
}

// 12,000 readings of 4 bytes in 200 batches, each durable; then all read back.
std::vector<Work> append(PyStore &self)
{
    nw_store *store = self.get();
    Window window(self.nand().get());
    std::array<uint8_t, kBatchBytes> batch;
    std::vector<Work> all;
    int stream = create(store, NW_STORE_STREAM, 4, 0);

    for (uint32_t i = 0; i < kBatches; i++) {
        fill_batch(batch.data(), i);
        (void)store_checked(nw_store_append(store, stream, batch.data(), kBatchBytes));
        (void)store_checked(nw_store_sync(store));
        window.done();
    }
    all.push_back(window.tell("append"));

    struct nw_store_cursor cursor = {};
    uint32_t readings = 0;

    (void)store_checked(nw_store_first(store, stream, &cursor));
    for (;;) {
        int length = store_checked(nw_store_next(store, &cursor, batch.data(), kBatchBytes));

        if (length == 0) {
            break;
        }
        for (int at = 0; at < length; at += 4) {
            std::array<uint8_t, 4> right;

            put32(right.data(), readings++);
            expect(std::memcmp(batch.data() + at, right.data(), 4) == 0);
        }
    }
    expect(readings == kBatches * kBatchReadings);
    all.push_back(window.tell("read-back"));
    return all;
}

// A file of ten pieces of 80 bytes written, made durable, found again by name and read.
std::vector<Work> small(PyStore &self)
{
    nw_store *store = self.get();
    Window window(self.nand().get());
    std::array<uint8_t, kPieceBytes> piece;
    std::array<uint8_t, kPieceBytes> right;
    int file = create(store, NW_STORE_FILE, kFileBlock, 0);

    for (uint32_t i = 0; i < kPieces; i++) {
        piece.fill(static_cast<uint8_t>(i));
        (void)store_checked(
            nw_store_write(store, file, i * kPieceBytes, piece.data(), kPieceBytes));
    }
    (void)store_checked(nw_store_sync(store));
    file = store_checked(nw_store_find(store, "data"));
    for (uint32_t i = 0; i < kPieces; i++) {
        int length = store_checked(
            nw_store_read(store, file, i * kPieceBytes, piece.data(), kPieceBytes));

        right.fill(static_cast<uint8_t>(i));
        expect(length == static_cast<int>(kPieceBytes) && piece == right);
    }
    return { window.tell("small") };
}

void fill_value(uint8_t *value, uint32_t key, uint32_t round)
{
    std::memset(value, static_cast<uint8_t>(key), kValueBytes);
    put32(value, key);
    put32(value + 4, round);
}

// 10,000 random overwrites of 64 byte values, each durable; after each so many pieces of idle work,
// which are counted but no part of the longest call.
std::vector<Work> overwrite(PyStore &self, uint16_t idle)
{
    nw_store *store = self.get();
    Window window(self.nand().get());
    std::array<uint8_t, kValueBytes> value;
    std::array<uint8_t, kValueBytes> right;
    std::vector<uint32_t> last(kValues, 0);
    uint32_t random = 1;
    int array = create(store, NW_STORE_ARRAY, kValueBytes, kValues);

    for (uint32_t key = 0; key < kValues; key++) {
        fill_value(value.data(), key, 0);
        (void)store_checked(nw_store_set(store, array, key, value.data()));
    }
    (void)store_checked(nw_store_sync(store));
    window.reset();
    for (uint32_t round = 1; round <= kOverwrites; round++) {
        random = random * 1664525U + 1013904223U;
        uint32_t key = (random >> 16) % kValues;

        fill_value(value.data(), key, round);
        window.begin();
        (void)store_checked(nw_store_set(store, array, key, value.data()));
        (void)store_checked(nw_store_sync(store));
        window.done();
        (void)store_checked(nw_store_idle(store, idle));
        last[key] = round;
    }
    std::vector<Work> all = { window.tell(idle == 0 ? "overwrite" : "overwrite-idle") };

    for (uint32_t key = 0; key < kValues; key++) {
        fill_value(right.data(), key, last[key]);
        (void)store_checked(nw_store_get(store, array, key, value.data()));
        expect(value == right);
    }
    return all;
}

std::vector<Work> do_work(PyStore &self, const std::string &work, uint16_t idle)
{
    if (work == "append") {
        return append(self);
    }
    if (work == "small") {
        return small(self);
    }
    if (work == "overwrite") {
        return overwrite(self, idle);
    }
    throw nb::value_error(("unknown work " + work).c_str());
}

} // namespace

void bind_store_work(nb::module_ &m)
{
    m.def("store_work", &do_work, nb::arg("store"), nb::arg("work"), nb::kw_only(),
          nb::arg("idle") = 0,
          "Does append (and read-back), small or overwrite on a fresh store: operations counted. "
          "`idle`: pieces of work ahead after each overwrite.");
}
