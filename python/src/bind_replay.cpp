// SPDX-License-Identifier: Apache-2.0
// Replaying: devices put together by name, sources of requests, and the engine.
#include "bind_twin.hpp"

#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bind_source.hpp"
#include "bind_timeline.hpp"
#include "paths.hpp"

#include "nandwich-replay/replay.h"
#include "nandwich-replay/tokens.h"
#include "nandwich-stack/tier.h"
#include "nandwich-stack/wear.h"
#include "nandwich/ftl_tree.h"

namespace nb = nanobind;

namespace {

using Dict = nb::typed<nb::dict, nb::str, nb::any>;
using Numbers = std::map<std::string, uint64_t>;

// Twin, tokens when verifying, layer.
class Device {
public:
    Device(const PyPart &part, const std::string &layer, const Numbers &layer_config,
           uint32_t blocks, uint32_t seed, bool wear_out, bool factory_bad, bool most_bad,
           bool verify, const FilePath &image, const std::string &wear, const Numbers &wear_config,
           const PyTimeline *timeline, const std::vector<uint32_t> &lives, bool bit_errors)
        : verify_(verify)
    {
        nw_stack_init(&stack_);
        try {
            const uint32_t flags = (wear_out ? NW_NAND_WEAR_OUT : 0U) |
                                   (factory_bad ? NW_NAND_FACTORY_BAD : 0U) |
                                   (most_bad ? NW_NAND_FACTORY_MOST : 0U) |
                                   (bit_errors ? NW_NAND_BIT_ERRORS : 0U);

            open_chip(part, blocks, seed, flags, image, lives);
            if (timeline != nullptr) {
                nw_stack_timeline(&stack_, timeline->get());
            }
            const nw_layer_kind *kind = nw_layer_find(layer.c_str());

            if (kind == nullptr) {
                throw nb::value_error(("no layer '" + layer + "'").c_str());
            }
            open_oob(kind, layer_config);
            open_layer(kind, layer_config, !image.text.empty(), wear, wear_config);
        } catch (...) {
            close();
            throw;
        }
    }
    ~Device() { close(); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    nw_stack *stack() { return &stack_; }
    const nw_block &block() const { return *stack_.block; }
    const nw_geometry &geometry() const { return stack_.chip->geometry; }
    uint32_t joined() const { return stack_.oob.join != 0 ? stack_.oob.join : 1U; }
    const Numbers &opening() const { return opening_; }
    bool verifies() const { return verify_; }

    Numbers errors() const
    {
        const nw_nand_counts *counts = nw_nand_stats(stack_.nand);

        return { { "bytes_read", counts->bytes_read },
                 { "bits_flipped", counts->bits_flipped },
                 { "bits_corrected", counts->bits_corrected } };
    }

    // RAM of the filter below the layer that this part needs, by its name.
    Numbers below() const
    {
        const nw_ecc_config config = {};
        const nw_geometry &chip = nw_nand_chip(stack_.nand)->geometry;

        if (stack_.oob.join != 0) {
            return { { "oob", sizeof(nw_oob) +
                                  (stack_.oob_tail != nullptr ? chip.page_bytes : 0U) } };
        }
        const size_t bytes = nw_ecc_ram_bytes(&config, &chip);

        if (stack_.part.kind != NW_PART_NAND || stack_.part.ecc_bits != 0 || bytes == 0) {
            return {};
        }
        return { { "ecc", sizeof(nw_ecc) + bytes } };
    }

    // By call: chip operations, and the time of as many of whole pages.
    std::map<std::string, Numbers> longest() const
    {
        static const std::map<std::string, nw_ftl_tree_call> calls = {
            { "change", NW_FTL_TREE_CHANGE }, { "mount", NW_FTL_TREE_MOUNT }
        };
        std::map<std::string, Numbers> all;

        if (stack_.kind != &nw_layer_tree) {
            return all;
        }
        const nw_geometry &chip = stack_.chip->geometry;
        nw_ftl_tree_config config = {};
        config.spare_blocks = stack_.layer_config.spare_blocks;

        for (const auto &[name, call] : calls) {
            nw_ftl_tree_most most = {};

            must(nw_ftl_tree_longest(&config, &chip, call, &most));
            all[name] = { { "reads", most.reads },
                          { "programs", most.programs },
                          { "erases", most.erases },
                          { "time_ns", 1000ULL * (1ULL * most.reads * chip.read_us +
                                                  1ULL * most.programs * chip.program_us +
                                                  1ULL * most.erases * chip.erase_us) } };
        }
        return all;
    }

    void save(const FilePath &path) const
    {
        const int error = nw_nand_save(stack_.nand, path.c_str());

        if (error < 0) {
            const char *why = error == NW_ERR_IO ? std::strerror(errno) : nw_error_text(error);

            throw_text(PyExc_ValueError, path.text + ": cannot be written: " + why);
        }
    }

    void put_tier(const PyPart &part, const std::string &policy, uint32_t bytes, uint32_t lambda,
                  bool reads, uint16_t apps, uint32_t seed)
    {
        nw_why why = { text_, sizeof text_ };
        nw_tier_choice choice = {};

        choice.part = &part.part;
        choice.bytes = bytes;
        choice.lambda = lambda;
        choice.reads = reads ? 1 : 0;
        choice.apps = apps;
        choice.seed = seed;
        must(nw_stack_tier(&stack_, policy.c_str(), &choice, &why));
    }

    // What the tier did, and how the NVM was worn; empty without one.
    Numbers tier() const
    {
        Numbers all;

        if (stack_.tier == nullptr) {
            return all;
        }
        const nw_tier_stats &stats = stack_.tier->stats;
        const nw_nvm *nvm = nw_nvm_twin_nvm(stack_.nvm);
        const uint32_t line_bytes = stack_.tier_part.line_bytes;
        uint64_t most = 0;

        for (uint32_t line = 0; line < (nvm->bytes - 1U) / line_bytes + 1U; line++) {
            most = std::max<uint64_t>(most, nw_nvm_twin_line_writes(stack_.nvm, line));
        }
        all["nvm_bytes"] = nvm->bytes;
        all["nvm_bytes_used"] = stack_.tier->frames_at +
                                (stack_.tier->slots + 1ULL) * stack_.tier->block.sector_bytes;
        all["slots"] = stack_.tier->slots;
        all["ram_bytes"] = stack_.tier_ram_bytes;
        all["held"] = stack_.tier->slots - stack_.tier->free_count;
        all["nvm_reads"] = stats.nvm_reads;
        all["nvm_writes"] = stats.nvm_writes;
        all["flash_reads"] = stats.flash_reads;
        all["flash_writes"] = stats.flash_writes;
        all["moved"] = stats.moved;
        all["moved_ahead"] = stats.moved_ahead;
        all["line_writes_max"] = most;
        all["endurance"] = nvm->endurance;
        return all;
    }

private:
    void must(int result) const
    {
        if (result < 0) {
            throw_text(PyExc_ValueError, text_);
        }
    }

    void open_chip(const PyPart &part, uint32_t blocks, uint32_t seed, uint32_t flags,
                   const FilePath &image, const std::vector<uint32_t> &lives)
    {
        nw_why why = { text_, sizeof text_ };

        if (!image.text.empty()) {
            must(nw_stack_image(&stack_, image.c_str(), part.part.name, &why));
            if (blocks != 0 && blocks != geometry().blocks) {
                throw_text(PyExc_ValueError, image.text + " holds a chip of " +
                                                 std::to_string(geometry().blocks) +
                                                 " blocks, not of " + std::to_string(blocks));
            }
            return;
        }
        nw_nand_config config = {};

        config.part = &part.part;
        config.blocks = blocks;
        config.seed = seed;
        if (!lives.empty()) {
            if (lives.size() != (blocks != 0 ? blocks : part.part.blocks)) {
                throw nb::value_error("lives: one is wanted for each block of the chip");
            }
            config.lives = lives.data();
        }
        config.flags = NW_NAND_NO_PAYLOAD | flags;
        must(nw_stack_chip(&stack_, &config, &why));
    }

    // A layer gets the spare area that it wants where the part can have one; else it says so.
    void open_oob(const nw_layer_kind *kind, const Numbers &given)
    {
        const auto figure = [&given](const char *key) {
            const auto found = given.find(key);

            return found != given.end() ? static_cast<uint32_t>(found->second) : 0U;
        };
        const uint32_t page_bytes = figure("page_bytes");
        const uint32_t join = figure("join");
        nw_why why = { text_, sizeof text_ };

        if (page_bytes != 0 || join != 0) {
            must(nw_stack_oob(&stack_, page_bytes, join, &why));
        } else if (nw_stack_wants_oob(&stack_, kind)) {
            (void)nw_stack_oob(&stack_, 0, 0, &why);
        }
    }

    void open_wear(const std::string &wear, const Numbers &given)
    {
        nw_why why = { text_, sizeof text_ };
        nw_wear_choice choice = {};

        for (const auto &[key, value] : given) {
            if (key == "heal") {
                choice.heal.heals = value != 0 ? 1 : 0;
            } else if (key == "heal_percent") {
                choice.heal.percent = static_cast<uint8_t>(value);
            } else if (key == "heal_cycles") {
                choice.heal.cycles = static_cast<uint16_t>(value);
            } else if (key == "heal_period_s") {
                choice.heal.period_s = static_cast<uint32_t>(value);
            } else if (key == "heal_fixed") {
                choice.heal.fixed = value != 0 ? 1 : 0;
            } else if (key == "heal_idle_us") {
                choice.heal.idle_us = static_cast<uint32_t>(value);
            } else if (key == "threshold") {
                choice.threshold = static_cast<uint16_t>(value);
            } else if (key == "set_shift") {
                choice.set_shift = static_cast<uint8_t>(value);
            } else {
                throw nb::value_error(("no wear figure '" + key + "'").c_str());
            }
        }
        choice.seed = 1;
        must(nw_stack_wear(&stack_, wear.c_str(), &choice, &why));
    }

    void open_layer(const nw_layer_kind *kind, const Numbers &given, bool mount,
                    const std::string &wear, const Numbers &wear_config)
    {
        nw_why why = { text_, sizeof text_ };
        nw_layer_config config = {};

        for (const auto &[key, value] : given) {
            if (key == "sectors") {
                config.sectors = static_cast<uint32_t>(value);
            } else if (key == "spare_blocks") {
                config.spare_blocks = static_cast<uint16_t>(value);
            } else if (key == "log_blocks") {
                config.log_blocks = static_cast<uint16_t>(value);
            } else if (key == "degree") {
                config.degree = static_cast<uint8_t>(value);
            } else if (key == "maps") {
                config.maps = static_cast<uint16_t>(value);
            } else if (key == "scrub_bits") {
                config.scrub_bits = static_cast<uint8_t>(value);
            } else if (key == "page_bytes" || key == "join") {
                continue; // of the filter below
            } else {
                throw nb::value_error(("no layer figure '" + key + "'").c_str());
            }
        }
        if (verify_) {
            const int error = nw_tokens_open(&tokens_, stack_.chip);

            if (error < 0) {
                throw nb::value_error("verifying needs a metadata-only chip with pages of whole "
                                      "8 B words");
            }
            stack_.chip = &tokens_.chip;
        }
        open_wear(wear, wear_config);
        const nw_nand_counts counts = *nw_nand_stats(stack_.nand);
        const uint64_t begun_ns = nw_nand_meter(stack_.nand)->time_ns;

        must(nw_stack_layer(&stack_, kind, &config, mount ? 1 : 0, &why));
        const nw_nand_counts *now = nw_nand_stats(stack_.nand);
        opening_["reads"] = now->reads - counts.reads;
        opening_["programs"] = now->programs - counts.programs;
        opening_["erases"] = now->erases - counts.erases;
        opening_["time_ns"] = nw_nand_meter(stack_.nand)->time_ns - begun_ns;
    }

    void close()
    {
        nw_stack_close(&stack_);
        nw_tokens_close(&tokens_);
    }

    nw_stack stack_ = {};
    nw_tokens tokens_ = {};
    bool verify_;
    char text_[512] = "";
    Numbers opening_;
};

/* Pairs of a time and how many took so long or less, but longer than the pair before. */
nb::list histogram(const nw_latency &latency)
{
    nb::list pairs;
    for (uint32_t bucket = 0; bucket < NW_LATENCY_BUCKETS; bucket++) {
        if (latency.buckets[bucket] > 0) {
            uint64_t end = std::min(nw_latency_end(bucket), latency.max_ns);
            pairs.append(nb::make_tuple(end, latency.buckets[bucket]));
        }
    }
    return pairs;
}

Dict latency_dict(const nw_latency &latency)
{
    Dict dict;
    dict["count"] = latency.count;
    dict["mean_ns"] = latency.count > 0 ? latency.sum_ns / latency.count : 0;
    dict["p50_ns"] = nw_latency_at(&latency, 500000);
    dict["p90_ns"] = nw_latency_at(&latency, 900000);
    dict["p99_ns"] = nw_latency_at(&latency, 990000);
    dict["p999_ns"] = nw_latency_at(&latency, 999000);
    dict["max_ns"] = latency.max_ns;
    dict["histogram"] = histogram(latency);
    return dict;
}

Dict layer_dict(const nw_stats &stats)
{
    Dict dict;
#define COUNT(name) dict[#name] = stats.name
    COUNT(host_reads);
    COUNT(host_writes);
    COUNT(host_trims);
    COUNT(syncs);
    COUNT(reads);
    COUNT(programs);
    COUNT(erases);
    COUNT(bytes_read);
    COUNT(bytes_programmed);
    COUNT(copies);
    COUNT(map_reads);
    COUNT(map_programs);
    COUNT(merges_switch);
    COUNT(merges_partial);
    COUNT(merges_full);
    COUNT(corrected);
    COUNT(retired);
    COUNT(scrubbed);
    COUNT(lost);
#undef COUNT
    return dict;
}

// The engine at work. The device and the source stay alive as long as it does.
class Replay {
public:
    Replay(Device &device, Source &source, uint32_t repeat, uint64_t limit, uint32_t precondition,
           uint64_t extent, const std::string &fit, uint32_t seed, bool arrivals, bool idle,
           uint64_t heals, const nb::bytes &content, uint16_t apps, const std::string &prepare,
           bool bound)
        : device_(device), source_(source),
          content_(content.c_str(), content.size())
    {
        static const std::map<std::string, uint8_t> ways = {
            { "idle", NW_REPLAY_WHEN_IDLE },
            { "at once", NW_REPLAY_AT_ONCE },
            { "unseen", NW_REPLAY_UNSEEN }
        };
        static const std::map<std::string, uint8_t> fits = {
            { "refuse", NW_REPLAY_REFUSE }, { "wrap", NW_REPLAY_WRAP }, { "scale", NW_REPLAY_SCALE }
        };
        nw_replay_config config = {};

        config.stack = device.stack();
        config.source = source.get();
        config.repeat = repeat;
        config.limit = limit;
        config.heals = heals;
        config.precondition = precondition;
        config.extent = extent;
        config.fit = fits.at(fit);
        config.prepare = ways.at(prepare);
        config.apps = apps;
        if (!content_.empty()) {
            if (content_.size() < device.block().sectors) {
                throw nb::value_error("content: fewer bytes than the device has sectors");
            }
            config.content = reinterpret_cast<const uint8_t *>(content_.data());
        }
        config.seed = seed;
        config.flags = static_cast<uint8_t>((arrivals ? NW_REPLAY_ARRIVALS : 0U) |
                                            (idle ? NW_REPLAY_IDLE : 0U) |
                                            (bound ? NW_REPLAY_BOUND : 0U) |
                                            (device.verifies() ? NW_REPLAY_VERIFY : 0U));
        const int error = nw_replay_open(&replay_, &config);

        if (error < 0) {
            throw nb::value_error(nw_error_text(error));
        }
    }
    ~Replay() { nw_replay_close(replay_); }
    Replay(const Replay &) = delete;
    Replay &operator=(const Replay &) = delete;

    bool precondition(uint64_t sectors)
    {
        const int result = nw_replay_precondition(replay_, sectors);

        if (result < 0) {
            throw std::runtime_error(std::string("preconditioning: ") + nw_error_text(result));
        }
        return result > 0;
    }

    bool read_back(uint64_t sectors)
    {
        const int result = nw_replay_read_back(replay_, sectors);

        if (result < 0) {
            throw std::runtime_error(std::string("reading back: ") + nw_error_text(result));
        }
        return result > 0;
    }

    // Processor seconds of this thread are added up, so that speed can be told.
    bool run(uint64_t requests)
    {
        const double start = processor_seconds();
        const int result = nw_replay_run(replay_, requests);

        seconds_ += processor_seconds() - start;
        if (result < 0) {
            source_.fail(result);
        }
        return result > 0;
    }

    void end() { nw_replay_end(replay_); }

    double seconds() const { return seconds_; }

    Dict result()
    {
        const nw_replay_result &r = *nw_replay_outcome(replay_);
        Dict dict;
#define VALUE(name) dict[#name] = r.name
        VALUE(requests);
        VALUE(done);
        VALUE(passes);
        VALUE(syncs);
        VALUE(sectors_read);
        VALUE(sectors_written);
        VALUE(sectors_trimmed);
        VALUE(partial_reads);
        VALUE(wrapped);
        VALUE(stepped_back);
        VALUE(bytes_read);
        VALUE(bytes_written);
        VALUE(busy_ns);
        VALUE(ahead_ns);
        VALUE(idle_ns);
        VALUE(end_ns);
        VALUE(energy_pj);
        VALUE(standby_pj);
        VALUE(queue_max);
        VALUE(worst_request);
        VALUE(worst_call_ns);
        VALUE(tokens_checked);
        VALUE(read_back);
        VALUE(violations);
        VALUE(violation_request);
        VALUE(violation_sector);
        VALUE(ended);
        VALUE(ended_sector);
#undef VALUE
        dict["ended_text"] = r.ended < 0 ? nw_error_text(r.ended) : "";
        if (r.dead != 0) {
            Dict death;
            death["request"] = r.death_request;
            death["sectors_written"] = r.death_written;
            death["time_ns"] = r.death_ns;
            dict["first_death"] = death;
        } else {
            dict["first_death"] = nb::none();
        }
        dict["reads"] = latency_dict(r.reads);
        dict["writes"] = latency_dict(r.writes);
        dict["others"] = latency_dict(r.others);
        dict["layer"] = layer_dict(*device_.stack()->layer->stats);
        return dict;
    }

    // name, left, right, slack
    std::vector<std::tuple<std::string, uint64_t, uint64_t, uint64_t>> laws()
    {
        nw_replay_law laws[NW_REPLAY_LAWS];
        std::vector<std::tuple<std::string, uint64_t, uint64_t, uint64_t>> all;
        uint32_t count = 0;

        (void)nw_replay_check(replay_, laws, &count);
        for (uint32_t i = 0; i < count; i++) {
            all.emplace_back(laws[i].name, laws[i].left, laws[i].right, laws[i].slack);
        }
        return all;
    }

    std::vector<Numbers> samples()
    {
        const nw_replay_sample *samples;
        const uint32_t count = nw_replay_samples(replay_, &samples);
        std::vector<Numbers> all;

        for (uint32_t i = 0; i < count; i++) {
            const nw_replay_sample &s = samples[i];
            all.push_back({
                { "time_ns", s.time_ns },
                { "requests", s.requests },
                { "written", s.written },
                { "read", s.read },
                { "chip_reads", s.chip_reads },
                { "chip_programs", s.chip_programs },
                { "chip_erases", s.chip_erases },
                { "copies", s.copies },
                { "response_sum_ns", s.response_sum_ns },
                { "response_max_ns", s.response_max_ns },
                { "energy_pj", s.energy_pj },
                { "retired", s.retired },
            });
        }
        return all;
    }

    // Of each application from 0, each class or each hour.
    std::vector<Numbers> shares(const std::string &by)
    {
        static const std::map<std::string, nw_replay_by> ways = {
            { "app", NW_REPLAY_BY_APP },
            { "content", NW_REPLAY_BY_CONTENT },
            { "hour", NW_REPLAY_BY_HOUR }
        };
        const nw_replay_share *shares;
        const uint32_t count = nw_replay_shares(replay_, ways.at(by), &shares);
        std::vector<Numbers> all;

        for (uint32_t i = 0; i < count; i++) {
            const nw_replay_share &s = shares[i];
            all.push_back({
                { "requests", s.requests },
                { "read", s.read },
                { "written", s.written },
                { "nvm_read", s.nvm_read },
                { "nvm_written", s.nvm_written },
                { "served_ns", s.served_ns },
                { "held", s.held },
            });
        }
        return all;
    }

    // What the tier could have done at best; nothing when it was not kept, or is too much.
    std::optional<Numbers> bound()
    {
        nw_tier_bound_result found;
        const int error = nw_replay_bound(replay_, &found);

        if (error == NW_ERR_RAM) {
            throw std::bad_alloc();
        }
        if (error < 0) {
            return std::nullopt;
        }
        return Numbers{ { "flash_writes_least", found.least_flash_writes },
                        { "nvm_reads_most", found.most_nvm_reads } };
    }

    // When the first healings ended.
    std::vector<uint64_t> heals()
    {
        const uint64_t *times;
        const uint32_t count = nw_replay_heals(replay_, &times);

        return std::vector<uint64_t>(times, times + count);
    }

    Numbers wear_stats()
    {
        const nw_wear *wear = device_.stack()->wear;
        Numbers all;

        if (wear != nullptr) {
            all["moves"] = wear->stats.moves;
            all["moved"] = wear->stats.moved;
            all["copies"] = wear->stats.copies;
            all["heals"] = wear->stats.heals;
            all["heals_idle"] = wear->stats.heals_idle;
            all["heals_forced"] = wear->stats.heals_forced;
            all["most_waiting"] = wear->stats.most_waiting;
            all["hot"] = wear->stats.hot;
            all["rounds"] = wear->stats.rounds;
        }
        return all;
    }

    // Erases of each block since counting started.
    std::vector<uint32_t> wear()
    {
        const nw_stack *stack = device_.stack();
        std::vector<uint32_t> all;

        // Of blocks that are joined the last is erased first.
        for (uint32_t block = device_.joined() - 1U;
             block < nw_nand_chip(stack->nand)->geometry.blocks; block += device_.joined()) {
            const uint32_t before = stack->erases_before != nullptr ? stack->erases_before[block]
                                                                    : 0;
            all.push_back(nw_nand_block_erases(stack->nand, block) - before);
        }
        return all;
    }

private:
    static double processor_seconds()
    {
        timespec now;

        if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
            throw std::runtime_error("no processor clock");
        }
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    }

    Device &device_;
    Source &source_;
    std::string content_;
    nw_replay *replay_ = nullptr;
    double seconds_ = 0;
};

std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> tier_policies()
{
    std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> all;

    for (uint32_t i = 0; i < nw_tier_kind_count; i++) {
        const nw_tier_kind &kind = nw_tier_kinds[i];
        std::vector<std::string> wants;

        if ((kind.flags & NW_TIER_NEEDS_APPS) != 0) {
            wants.emplace_back("apps");
        }
        if ((kind.flags & NW_TIER_NEEDS_CONTENT) != 0) {
            wants.emplace_back("content");
        }
        if ((kind.flags & NW_TIER_HAS_LAMBDA) != 0) {
            wants.emplace_back("lambda");
        }
        all.emplace_back(kind.name, kind.what, wants);
    }
    return all;
}

std::vector<std::tuple<std::string, std::string>> wear_policies()
{
    std::vector<std::tuple<std::string, std::string>> all;

    for (uint32_t i = 0; i < nw_wear_kind_count; i++) {
        all.emplace_back(nw_wear_kinds[i].name, nw_wear_kinds[i].what);
    }
    return all;
}

} // namespace

static void bind_device(nb::module_ &m)
{
    nb::class_<Device>(m, "ReplayDevice", "A translation layer on a metadata-only twin.")
        .def(nb::init<const PyPart &, const std::string &, const Numbers &, uint32_t, uint32_t,
                      bool, bool, bool, bool, const FilePath &, const std::string &,
                      const Numbers &, const PyTimeline *, const std::vector<uint32_t> &, bool>(),
             nb::arg("part"), nb::arg("layer"), nb::kw_only(), nb::arg("config") = Numbers(),
             nb::arg("blocks") = 0, nb::arg("seed") = 1, nb::arg("wear_out") = false,
             nb::arg("factory_bad") = true, nb::arg("most_bad") = false,
             nb::arg("verify") = false,
             nb::arg("image") = FilePath{}, nb::arg("wear") = "none",
             nb::arg("wear_config") = Numbers(), nb::arg("timeline") = nb::none(),
             nb::arg("lives") = std::vector<uint32_t>(), nb::arg("bit_errors") = false,
             nb::keep_alive<1, 14>(),
             "ValueError says what does not fit. An image is mounted as it was left.")
        .def("errors", &Device::errors,
             "Of all that was read of the chip: bytes_read, bits_flipped, bits_corrected. With "
             "bit_errors bits flip as often as the part's curve says.")
        .def_prop_ro("sectors", [](const Device &self) { return self.block().sectors; })
        .def_prop_ro("sector_bytes", [](const Device &self) { return self.block().sector_bytes; })
        .def_prop_ro("blocks", [](const Device &self) { return self.geometry().blocks; })
        .def_prop_ro("joined", &Device::joined, "Blocks of the part in one of these.")
        .def_prop_ro("block_pages", [](const Device &self) { return self.geometry().block_pages; })
        .def_prop_ro("endurance", [](const Device &self) { return self.geometry().endurance; })
        .def_prop_ro("ram_bytes", [](Device &self) { return self.stack()->layer_ram_bytes; },
                     "What the layer takes on the device.")
        .def_prop_ro("state_bytes", [](Device &self) { return self.stack()->kind->state_bytes; },
                     "The layer's own struct on this host, whose pointers have 8 bytes.")
        .def_prop_ro("opening", &Device::opening,
                     "What its format or mount took: reads, programs, erases, time_ns.")
        .def("below", &Device::below,
             "RAM of the filter that this part needs below the layer, by name: oob where it has no "
             "spare area, ecc where it corrects nothing itself. Empty: none.")
        .def("longest", &Device::longest,
             "The tree's longest change and mount, whatever the device went through: reads, "
             "programs, erases, time_ns. Empty for other layers.")
        .def("put_tier", &Device::put_tier, nb::arg("part"), nb::arg("policy"), nb::kw_only(),
             nb::arg("bytes") = 0, nb::arg("lambda_") = 0, nb::arg("reads") = false,
             nb::arg("apps") = 0, nb::arg("seed") = 1,
             "An NVM before the layer, before anything is played.")
        .def("tier", &Device::tier, "What the tier did; empty without one.")
        .def("save", &Device::save, nb::arg("path"), "The chip as it is, as an image.");
}

void bind_replay(nb::module_ &m)
{
    m.def("tier_policies", &tier_policies,
          "Placement policies: name, what it does, what it knows of: apps, content, lambda.");
    m.def("wear_policies", &wear_policies, "Wear policies: name, what it does.");
    bind_device(m);
    nb::class_<Replay>(m, "Replay", "Plays a source on a device; see replay.h.")
        .def(nb::init<Device &, Source &, uint32_t, uint64_t, uint32_t, uint64_t,
                      const std::string &, uint32_t, bool, bool, uint64_t, const nb::bytes &,
                      uint16_t, const std::string &, bool>(),
             nb::arg("device"), nb::arg("source"), nb::kw_only(), nb::arg("repeat") = 1,
             nb::arg("limit") = 0, nb::arg("precondition") = 0, nb::arg("extent") = 0,
             nb::arg("fit") = "refuse", nb::arg("seed") = 1, nb::arg("arrivals") = false,
             nb::arg("idle") = false, nb::arg("heals") = 0,
             nb::arg("content") = nb::bytes("", 0), nb::arg("apps") = 0,
             nb::arg("prepare") = "idle", nb::arg("bound") = false,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("precondition", &Replay::precondition, nb::arg("sectors"),
             "Writes so many sectors more before counting; whether there is more to do.")
        .def("run", &Replay::run, nb::arg("requests"), nb::call_guard<nb::gil_scoped_release>(),
             "Plays so many requests more; whether there are more.")
        .def("end", &Replay::end, "Ends the run as if the source had ended here.")
        .def("read_back", &Replay::read_back, nb::arg("sectors"),
             nb::call_guard<nb::gil_scoped_release>(),
             "After the run, verifying: compares so many sectors more; whether there are more.")
        .def("result", &Replay::result)
        .def("laws", &Replay::laws, "(name, left, right, slack) of each law of the books.")
        .def("samples", &Replay::samples, "State over time.")
        .def("shares", &Replay::shares, nb::arg("by"),
             "What was asked and what became of it, by `app`, `content` or `hour`.")
        .def("bound", &Replay::bound,
             "With `bound`: what no policy does better (nandwich-replay/tier_bound.h).")
        .def("heals", &Replay::heals, "When each of the first 1024 healings had ended, ns.")
        .def("wear_stats", &Replay::wear_stats, "What the wear policy did; empty without one.")
        .def("wear", &Replay::wear, "Erases of each block since counting started.")
        .def_prop_ro("seconds", &Replay::seconds, "Processor time of run() so far.");
}
