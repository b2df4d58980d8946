// SPDX-License-Identifier: Apache-2.0
#include "vm_kernels.hpp"

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "nandwich/random.h"

namespace nw {

namespace {

std::uint8_t *sectors_of(const nw_block_req *req)
{
    auto &device = *static_cast<std::vector<std::uint8_t> *>(req->block->context);
    return device.data() + std::size_t{req->sector} * req->block->sector_bytes;
}

int device_read(nw_block_req *req)
{
    std::memcpy(req->data, sectors_of(req), std::size_t{req->count} * req->block->sector_bytes);
    req->done = req->count;
    return NW_OK;
}

int device_write(nw_block_req *req)
{
    std::memcpy(sectors_of(req), req->data, std::size_t{req->count} * req->block->sector_bytes);
    req->done = req->count;
    return NW_OK;
}

int device_accept(nw_block_req *req)
{
    req->done = req->count;
    return NW_OK;
}

const nw_block_ops device_ops = {device_read, device_write, device_accept, device_accept, nullptr};

// The device cannot fail and the kernels stay in their range.
[[noreturn]] void on_panic(nw_vm *, int, std::uintptr_t) { std::abort(); }

// Quicksort of 65,536 words: two pointers running towards each other.
void quicksort(PagedMemory &memory, nw_random &random)
{
    constexpr std::int32_t count = 65536;
    std::vector<std::pair<std::int32_t, std::int32_t>> ranges{{0, count - 1}};
    auto at = [](std::int32_t index) { return static_cast<std::uint32_t>(index) * 4U; };

    for (std::int32_t i = 0; i < count; i++) {
        memory.store<std::uint32_t>(0, at(i), nw_random_next(&random));
    }
    while (!ranges.empty()) {
        const auto [low, high] = ranges.back();
        std::int32_t i = low;
        std::int32_t j = high;
        const auto pivot = memory.load<std::uint32_t>(0, at(low + (high - low) / 2));

        ranges.pop_back();
        while (i <= j) {
            while (memory.load<std::uint32_t>(1, at(i)) < pivot) {
                i++;
            }
            while (memory.load<std::uint32_t>(2, at(j)) > pivot) {
                j--;
            }
            if (i <= j) {
                const auto left = memory.load<std::uint32_t>(1, at(i));
                memory.store(1, at(i), memory.load<std::uint32_t>(2, at(j)));
                memory.store(2, at(j), left);
                i++;
                j--;
            }
        }
        if (low < j) {
            ranges.emplace_back(low, j);
        }
        if (i < high) {
            ranges.emplace_back(i, high);
        }
    }
}

struct Complex {
    float real;
    float imaginary;
};

// In-place transform of 16,384 points with its table of 8,192 roots behind them: 192 KB.
void fft(PagedMemory &memory, nw_random &random)
{
    constexpr std::uint32_t points = 16384;
    constexpr std::uint32_t roots = points * sizeof(Complex);
    auto at = [](std::uint32_t index) { return index * std::uint32_t{sizeof(Complex)}; };

    for (std::uint32_t i = 0; i < points; i++) {
        memory.store(0, at(i), Complex{static_cast<float>(nw_random_below(&random, 256)), 0});
    }
    for (std::uint32_t i = 0; i < points / 2; i++) {
        const double angle = -2 * M_PI * i / points;
        memory.store(0, roots + at(i), Complex{static_cast<float>(std::cos(angle)),
                                               static_cast<float>(std::sin(angle))});
    }
    for (std::uint32_t half = 1; half < points; half *= 2) {
        for (std::uint32_t i = 0; i < points; i += 2 * half) {
            for (std::uint32_t j = 0; j < half; j++) {
                const auto w = memory.load<Complex>(3, roots + at(j * (points / (2 * half))));
                const auto a = memory.load<Complex>(1, at(i + j));
                const auto b = memory.load<Complex>(2, at(i + j + half));
                const Complex t{b.real * w.real - b.imaginary * w.imaginary,
                                b.real * w.imaginary + b.imaginary * w.real};
                memory.store(1, at(i + j), Complex{a.real + t.real, a.imaginary + t.imaginary});
                memory.store(2, at(i + j + half),
                             Complex{a.real - t.real, a.imaginary - t.imaginary});
            }
        }
    }
}

// 60,000 look-ups in an unbalanced tree of up to 8,000 nodes of 24 bytes, inserting what is missing
// and counting every tenth hit.
void tree(PagedMemory &memory, nw_random &random)
{
    constexpr std::uint32_t none = 0xFFFFFFFFU;
    std::uint32_t nodes = 0;

    for (unsigned i = 0; i < 60000; i++) {
        const std::uint32_t key = nw_random_below(&random, 8000);
        std::uint32_t link = none; // where the address of the node looked at was found
        std::uint32_t node = nodes == 0 ? none : 0;

        while (node != none) {
            const auto held = memory.load<std::uint32_t>(0, node);
            if (held == key) {
                break;
            }
            link = node + (key < held ? 4 : 8);
            node = memory.load<std::uint32_t>(key < held ? 1 : 2, link);
        }
        if (node != none) {
            if (i % 10 == 0) {
                memory.store(5, node + 12, memory.load<std::uint32_t>(5, node + 12) + 1);
            }
            continue;
        }
        node = nodes++ * 24;
        memory.store(3, node, key);
        memory.store(3, node + 4, none);
        memory.store(3, node + 8, none);
        memory.store(3, node + 12, std::uint32_t{0});
        if (link != none) {
            memory.store(4, link, node);
        }
    }
}

// 200,000 increments among 16,000 counters at random.
void counters(PagedMemory &memory, nw_random &random)
{
    for (unsigned i = 0; i < 200000; i++) {
        const std::uint32_t at = 4 * nw_random_below(&random, 16000);
        memory.store(0, at, memory.load<std::uint32_t>(0, at) + 1);
    }
}

// 200,000 look-ups in a table of 10,000 entries of 16 bytes, nine of ten in its first tenth, a
// third of them changing the entry.
void table(PagedMemory &memory, nw_random &random)
{
    for (unsigned i = 0; i < 200000; i++) {
        const std::uint32_t most = nw_random_below(&random, 10) != 0 ? 1000 : 10000;
        const std::uint32_t at = 16 * nw_random_below(&random, most);
        const auto value = memory.load<std::uint32_t>(i % 4, at);
        if (nw_random_below(&random, 3) == 0) {
            memory.store(i % 4, at, value + 1);
        }
    }
}

} // namespace

PagedMemory::PagedMemory(std::uint16_t frame_bytes, std::uint16_t frames,
                         std::uint16_t sector_bytes, nw_vm_policy policy)
    : device_(bytes)
{
    nw_vm_config config{};

    block_.ops = &device_ops;
    block_.context = &device_;
    block_.sectors = bytes / (sector_bytes != 0 ? sector_bytes : 1U);
    block_.sector_bytes = sector_bytes;
    config.base = base;
    config.bytes = bytes;
    config.frame_bytes = frame_bytes;
    config.frames = frames;
    config.slots = slots;
    config.policy = static_cast<std::uint8_t>(policy);
    config.block = &block_;
    config.slot_table = table_;
    config.panic = on_panic;
    ram_.resize(nw_vm_ram_bytes(&config));
    config.ram = ram_.data();
    config.ram_bytes = ram_.size();
    const int error = nw_vm_open(&vm_, &config);
    if (error != NW_OK) {
        throw std::invalid_argument(nw_error_text(error));
    }
}

void run_kernel(PagedMemory &memory, const std::string &name)
{
    static const struct {
        const char *name;
        void (*run)(PagedMemory &memory, nw_random &random);
    } kernels[] = {{"quicksort", quicksort},
                   {"fft", fft},
                   {"tree", tree},
                   {"counters", counters},
                   {"table", table}};
    nw_random random;

    nw_random_seed(&random, 1);
    for (const auto &kernel : kernels) {
        if (name == kernel.name) {
            kernel.run(memory, random);
            return;
        }
    }
    throw std::invalid_argument("no kernel " + name);
}

} // namespace nw
