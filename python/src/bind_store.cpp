// SPDX-License-Identifier: Apache-2.0
// The object store over an emulated chip. An error of the store is a StoreError, its first argument
// the number.
#include "bind_store.hpp"

#include "bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace nb = nanobind;

namespace {

constexpr uint16_t kLongest = 65000; // bytes of a value
constexpr uint16_t kPiece = 32767;   // of a file, in one call
constexpr const char *kNameErrors = "surrogateescape";

using Numbers = nb::typed<nb::dict, nb::str, nb::int_>;

const std::map<std::string, uint8_t> kTypes = {
    { "stack", NW_STORE_STACK }, { "queue", NW_STORE_QUEUE }, { "stream", NW_STORE_STREAM },
    { "array", NW_STORE_ARRAY }, { "file", NW_STORE_FILE },
};

} // namespace

PyStore::PyStore(PyNand &nand, const nw_store_config &config, uint32_t first_block,
                 uint32_t blocks, bool ecc, const uint8_t *key)
    : nand_(nand), config_(config), chip_(nand.chip()), scratch_(kLongest)
{
    if (first_block != 0 || blocks != 0) {
        if (nw_slice_open(&slice_, chip_, first_block, blocks) < 0) {
            throw nb::value_error("the chip does not have these blocks");
        }
        chip_ = &slice_.chip;
    }
    if (ecc) {
        const struct nw_ecc_config code = {};

        ecc_ram_.resize(nw_ecc_ram_bytes(&code, &chip_->geometry));
        if (nw_ecc_open(&ecc_, chip_, &code, ecc_ram_.data(), ecc_ram_.size()) < 0) {
            throw nb::value_error("no room on this chip for an error-correcting code");
        }
        chip_ = &ecc_.chip;
    }
    if (key != nullptr) {
        seal_ = std::make_unique<nw_seal_sodium>();
        nw_seal_sodium_open(seal_.get(), key);
        config_.seal = &seal_->seal;
    }
    ram_bytes_ = nw_store_ram_bytes(&config_, &chip_->geometry);
    if (ram_bytes_ == 0) {
        throw nb::value_error("the store cannot work on this chip with this configuration");
    }
    ram_.resize(ram_bytes_ / sizeof(std::max_align_t) + 1);
}

PyStore::~PyStore()
{
    if (seal_) {
        nw_seal_close(&seal_->seal);
    }
}

void PyStore::start(int result)
{
    if (result < 0) {
        store_ = nullptr;
    }
    (void)store_checked(result);
}

void PyStore::format()
{
    start(nw_store_format(&store_, chip_, &config_, ram_.data(), ram_bytes_));
}

void PyStore::mount()
{
    std::fill(ram_.begin(), ram_.end(), std::max_align_t{});
    start(nw_store_mount(&store_, chip_, &config_, ram_.data(), ram_bytes_));
}

void PyStore::mount_read_only()
{
    std::fill(ram_.begin(), ram_.end(), std::max_align_t{});
    start(nw_store_mount_read_only(&store_, chip_, &config_, ram_.data(), ram_bytes_));
}

namespace {

uint16_t length_of(const nb::bytes &data)
{
    if (data.size() > kLongest) {
        (void)store_checked(NW_ERR_RANGE);
    }
    return static_cast<uint16_t>(data.size());
}

const std::string &type_name(uint8_t type)
{
    auto same = [&](const auto &entry) { return entry.second == type; };

    return std::find_if(kTypes.begin(), kTypes.end(), same)->first;
}

Numbers stats_of(const PyStore &self)
{
    const struct nw_store_stats *stats = nw_store_stats(self.get());
    Numbers all;

#define STAT(name) all[#name] = stats->name
    STAT(reads);
    STAT(programs);
    STAT(erases);
    STAT(bytes_read);
    STAT(bytes_programmed);
    STAT(nodes_written);
    STAT(anchors);
    STAT(moved);
    STAT(bytes_moved);
    STAT(dropped);
    STAT(corrected);
    STAT(lost);
    STAT(retired);
    STAT(swapped);
    STAT(place);
    STAT(tampered);
#undef STAT
    return all;
}

Numbers space_of(const PyStore &self)
{
    struct nw_store_space space;
    Numbers all;

    nw_store_space(self.get(), &space);
    all["used_bytes"] = space.used_bytes;
    all["limit_bytes"] = space.limit_bytes;
    all["put_bytes"] = space.put_bytes;
    all["free_blocks"] = space.free_blocks;
    all["good_blocks"] = space.good_blocks;
    all["sequence"] = space.sequence;
    return all;
}

using About = nb::typed<nb::dict, nb::str, nb::any>;

// What nw_store_check() says: nothing, or where the store does not agree with itself.
std::optional<About> check_of(PyStore &self)
{
    struct nw_store_fault fault;
    const int result = nw_store_check(self.get(), &fault);

    if (result == NW_OK) {
        return std::nullopt;
    }
    About where;

    where["slot"] = fault.slot;
    where["checkpoint"] = fault.checkpoint;
    where["key"] =
        fault.key == UINT32_MAX ? nb::object(nb::none()) : nb::object(nb::int_(fault.key));
    where["why"] = nw_error_text(result);
    return where;
}

// Names are any bytes; those that are no text become lone surrogates, as in names of files.
std::string name_of(const nb::str &text)
{
    nb::object bytes =
        nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", kNameErrors));

    if (!bytes.is_valid()) {
        throw nb::python_error();
    }
    return std::string(PyBytes_AsString(bytes.ptr()));
}

About about_of(const struct nw_store_about &about)
{
    About all;

    all["name"] = nb::steal<nb::str>(
        PyUnicode_DecodeUTF8(about.name, std::strlen(about.name), kNameErrors));
    all["handle"] = about.handle;
    all["type"] = type_name(about.spec.type);
    all["unit_bytes"] = about.spec.unit_bytes;
    all["count"] = about.spec.count;
    all["expendable"] = (about.spec.flags & NW_STORE_EXPENDABLE) != 0;
    all["head"] = about.head;
    all["tail"] = about.tail;
    all["bytes"] = about.bytes;
    return all;
}

std::vector<About> objects_of(const PyStore &self)
{
    std::vector<About> all;
    struct nw_store_about about;

    for (uint8_t slot = 0;; slot++) {
        int result = nw_store_at(self.get(), slot, &about);

        if (result == NW_ERR_RANGE) {
            return all;
        }
        if (result != NW_ERR_NOT_FOUND) {
            (void)store_checked(result);
            all.push_back(about_of(about));
        }
    }
}

int create_object(PyStore &self, const nb::str &name, const std::string &type,
                  uint16_t unit_bytes, uint32_t count, bool expendable)
{
    auto known = kTypes.find(type);
    struct nw_store_spec spec = {};

    if (known == kTypes.end()) {
        throw nb::value_error(("unknown type " + type).c_str());
    }
    spec.type = known->second;
    spec.unit_bytes = unit_bytes;
    spec.count = count;
    spec.flags = static_cast<uint8_t>(expendable ? NW_STORE_EXPENDABLE : 0U);
    return store_checked(nw_store_create(self.get(), name_of(name).c_str(), &spec));
}

using Put = int (*)(nw_store *, int, const void *, uint16_t);
using Take = int (*)(nw_store *, int, void *, uint16_t);
using Step = int (*)(nw_store *, struct nw_store_cursor *, void *, uint16_t);

template <Put put>
void put_element(PyStore &self, int handle, const nb::bytes &data)
{
    (void)store_checked(put(self.get(), handle, data.c_str(), length_of(data)));
}

template <Take take>
nb::bytes take_element(PyStore &self, int handle, bool unread)
{
    std::vector<uint8_t> &room = self.scratch();
    int length = store_checked(take(self.get(), handle, unread ? nullptr : room.data(), kLongest));

    return nb::bytes(room.data(), unread ? 0 : static_cast<size_t>(length));
}

nb::bytes peek_element(PyStore &self, int handle, uint32_t number)
{
    std::vector<uint8_t> &room = self.scratch();
    int length = store_checked(nw_store_peek(self.get(), handle, number, room.data(), kLongest));

    return nb::bytes(room.data(), static_cast<size_t>(length));
}

template <Step step>
nb::bytes step_cursor(PyStore &self, struct nw_store_cursor &cursor, uint16_t most)
{
    std::vector<uint8_t> &room = self.scratch();
    int length =
        store_checked(step(self.get(), &cursor, room.data(), std::min<uint16_t>(most, kLongest)));

    return nb::bytes(room.data(), static_cast<size_t>(length));
}

uint16_t unit_of(PyStore &self, int handle)
{
    struct nw_store_about about;

    for (uint8_t slot = 0;; slot++) {
        int result = nw_store_at(self.get(), slot, &about);

        if (result == NW_ERR_RANGE) {
            break;
        }
        if (result >= 0 && about.handle == handle) {
            return about.spec.unit_bytes;
        }
    }
    (void)store_checked(NW_ERR_NOT_FOUND);
    return 0;
}

void set_value(PyStore &self, int handle, uint32_t key, const nb::bytes &value)
{
    if (value.size() != unit_of(self, handle)) {
        (void)store_checked(NW_ERR_RANGE);
    }
    (void)store_checked(nw_store_set(self.get(), handle, key, value.c_str()));
}

nb::bytes get_value(PyStore &self, int handle, uint32_t key)
{
    std::vector<uint8_t> &room = self.scratch();

    (void)store_checked(nw_store_get(self.get(), handle, key, room.data()));
    return nb::bytes(room.data(), unit_of(self, handle));
}

std::optional<uint32_t> next_key(PyStore &self, int handle, uint32_t key)
{
    int result = nw_store_next_key(self.get(), handle, &key);

    if (result == NW_ERR_NOT_FOUND) {
        return std::nullopt;
    }
    (void)store_checked(result);
    return key;
}

std::vector<int> kept_by(const PyStore &self)
{
    std::vector<int> kept;

    for (uint8_t place = 0; place < NW_STORE_CHECKPOINTS; place++) {
        int number = nw_store_kept(self.get(), place);

        if (number > 0) {
            kept.push_back(number);
        }
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

void bind_lists(nb::class_<PyStore> &store)
{
    store.def("push", &put_element<nw_store_push>, nb::arg("handle"), nb::arg("data"))
        .def("append", &put_element<nw_store_append>, nb::arg("handle"), nb::arg("data"))
        .def("pop", &take_element<nw_store_pop>, nb::arg("handle"), nb::arg("unread") = false,
             "The newest element. `unread`: nothing is read or answered; a damaged one goes so.")
        .def("dequeue", &take_element<nw_store_dequeue>, nb::arg("handle"),
             nb::arg("unread") = false, "The oldest element, likewise.")
        .def("peek", &peek_element, nb::arg("handle"), nb::arg("number"),
             "Element `number`, head .. tail - 1.")
        .def("trim", [](PyStore &self, int handle, uint32_t chunk) {
            (void)store_checked(nw_store_trim(self.get(), handle, chunk));
        }, nb::arg("handle"), nb::arg("chunk"))
        .def("first", [](PyStore &self, int handle) {
            struct nw_store_cursor cursor = {};

            (void)store_checked(nw_store_first(self.get(), handle, &cursor));
            return cursor;
        }, nb::arg("handle"), "A cursor before the first element.")
        .def("last", [](PyStore &self, int handle) {
            struct nw_store_cursor cursor = {};

            (void)store_checked(nw_store_last(self.get(), handle, &cursor));
            return cursor;
        }, nb::arg("handle"), "A cursor behind the last element.")
        .def("seek", [](PyStore &self, int handle, uint32_t chunk, uint16_t offset) {
            struct nw_store_cursor cursor = {};

            (void)store_checked(nw_store_seek(self.get(), handle, chunk, offset, &cursor));
            return cursor;
        }, nb::arg("handle"), nb::arg("chunk"), nb::arg("offset") = 0,
             "A cursor at a place kept earlier.")
        .def("tag", [](PyStore &self, int array, uint32_t tag,
                       const struct nw_store_cursor &cursor) {
            (void)store_checked(nw_store_tag(self.get(), array, tag, &cursor));
        }, nb::arg("array"), nb::arg("tag"), nb::arg("cursor"),
             "Keeps the cursor's place under a tag; the array's values have STORE_TAG_BYTES.")
        .def("tagged", [](PyStore &self, int array, uint32_t tag, int stream) {
            struct nw_store_cursor cursor = {};

            (void)store_checked(nw_store_tagged(self.get(), array, tag, stream, &cursor));
            return cursor;
        }, nb::arg("array"), nb::arg("tag"), nb::arg("stream"), "A cursor at a tag's place.")
        .def("next", &step_cursor<nw_store_next>, nb::arg("cursor"), nb::arg("most") = kLongest,
             "What lies behind the cursor, which moves over it; empty at the end.")
        .def("previous", &step_cursor<nw_store_previous>, nb::arg("cursor"),
             nb::arg("most") = kLongest);
}

nb::bytes read_file(PyStore &self, int handle, uint32_t offset, uint16_t most)
{
    std::vector<uint8_t> &room = self.scratch();
    int length = store_checked(
        nw_store_read(self.get(), handle, offset, room.data(), std::min<uint16_t>(most, kPiece)));

    return nb::bytes(room.data(), static_cast<size_t>(length));
}

int write_file(PyStore &self, int handle, uint32_t offset, const nb::bytes &data)
{
    uint16_t bytes = static_cast<uint16_t>(std::min<size_t>(data.size(), kPiece));

    return store_checked(nw_store_write(self.get(), handle, offset, data.c_str(), bytes));
}

void bind_files(nb::class_<PyStore> &store)
{
    store.def("read", &read_file, nb::arg("handle"), nb::arg("offset"), nb::arg("most") = kPiece,
              "Bytes of a file; fewer at its end.")
        .def("write", &write_file, nb::arg("handle"), nb::arg("offset"), nb::arg("data"),
             "At an offset, 0 .. length: how many were written, 32,767 at most.")
        .def("length", [](PyStore &self, int handle) {
            uint32_t bytes;

            (void)store_checked(nw_store_length(self.get(), handle, &bytes));
            return bytes;
        }, nb::arg("handle"))
        .def("truncate", [](PyStore &self, int handle, uint32_t bytes) {
            (void)store_checked(nw_store_truncate(self.get(), handle, bytes));
        }, nb::arg("handle"), nb::arg("bytes"), "Cuts the end off.");
}

void bind_state(nb::class_<PyStore> &store)
{
    store.def("format", &PyStore::format, "Makes an empty store.")
        .def("mount", &PyStore::mount, "Finds the store on the chip.")
        .def("mount_read_only", &PyStore::mount_read_only,
             "The same without a program or an erase; what writes is a StoreError.")
        .def("sync", [](PyStore &self) { (void)store_checked(nw_store_sync(self.get())); })
        .def("idle", [](PyStore &self, uint16_t budget) {
            return store_checked(nw_store_idle(self.get(), budget));
        }, nb::arg("budget"), "Works ahead; answers how many pieces were done.")
        .def("compact", [](PyStore &self, int handle, uint32_t key, uint16_t count) {
            int moved = store_checked(nw_store_compact(self.get(), handle, &key, count));

            return std::pair(moved, key);
        }, nb::arg("handle"), nb::arg("key"), nb::arg("count"),
             "Moves up to `count` chunks from `key` on to the end of the log: how many, and the "
             "key to go on with; none: all is done.")
        .def_prop_ro("ram_bytes", &PyStore::ram_bytes)
        .def_prop_ro("stats", &stats_of, "Counts since mount.")
        .def_prop_ro("space", &space_of)
        .def("objects", &objects_of, "All objects, each as a dict.")
        .def("check", &check_of,
             "None, or what does not agree with itself: slot, checkpoint, key, why; "
             "see store_check.h.")
        .def("checkpoint", [](PyStore &self) {
            return store_checked(nw_store_checkpoint(self.get()));
        }, "Keeps the state of all objects; answers its number.")
        .def("rollback", [](PyStore &self, int number) {
            (void)store_checked(nw_store_rollback(self.get(), number));
        }, nb::arg("number") = 0, "Back to a checkpoint; 0 is the newest. Handles are void.")
        .def("drop", [](PyStore &self, int number) {
            (void)store_checked(nw_store_drop(self.get(), number));
        }, nb::arg("number"))
        .def("kept", &kept_by, "Numbers of the checkpoints, oldest first.");
}

} // namespace

void bind_store(nb::module_ &m)
{
    std::string full = nb::cast<std::string>(m.attr("__name__")) + ".StoreError";
    nb::object type = nb::steal(PyErr_NewException(full.c_str(), PyExc_RuntimeError, nullptr));

    m.attr("StoreError") = type;
    m.attr("STORE_TAG_BYTES") = NW_STORE_TAG_BYTES;

    nb::class_<struct nw_store_cursor>(m, "StoreCursor", "A place in a stream.")
        .def_ro("handle", &nw_store_cursor::handle)
        .def_ro("chunk", &nw_store_cursor::chunk)
        .def_ro("offset", &nw_store_cursor::offset);

    nb::class_<PyStore> store(m, "Store", "Durable typed objects on an emulated chip.");

    store.def("__init__", [](PyStore *self, PyNand &nand, uint8_t objects, uint8_t name_bytes,
                             uint8_t frames, uint8_t fan, uint8_t checkpoints, bool read_ahead,
                             uint32_t anchor_bytes, uint32_t first_block,
                             uint32_t blocks, bool ecc, const std::optional<nb::bytes> &key) {
        struct nw_store_config config = {};

        if (key && key->size() != NW_SEAL_KEY_BYTES) {
            throw nb::value_error("a key has 32 bytes");
        }

        config.objects = objects;
        config.name_bytes = name_bytes;
        config.frames = frames;
        config.fan = fan;
        config.checkpoints = checkpoints;
        config.read_ahead = read_ahead ? 1 : 0;
        config.anchor_bytes = anchor_bytes;
        new (self) PyStore(nand, config, first_block, blocks, ecc,
                           key ? static_cast<const uint8_t *>(key->data()) : nullptr);
    }, nb::arg("nand"), nb::kw_only(), nb::arg("objects") = 0, nb::arg("name_bytes") = 0,
       nb::arg("frames") = 0, nb::arg("fan") = 0, nb::arg("checkpoints") = 0,
       nb::arg("read_ahead") = false, nb::arg("anchor_bytes") = 0,
       nb::arg("first_block") = 0, nb::arg("blocks") = 0, nb::arg("ecc") = false,
       nb::arg("key") = nb::none(), nb::keep_alive<1, 2>(),
       "On a chip, neither formatted nor mounted; zeros are the defaults of store.h. `blocks`: on "
       "so many of it from `first_block` on (slice.h). `ecc`: over the error-correcting code of "
       "ecc.h. `key`: sealed with these 32 bytes (store_seal.h).");
    bind_state(store);
    store.def("create", &create_object, nb::arg("name"), nb::arg("type"), nb::kw_only(),
              nb::arg("unit_bytes") = 0, nb::arg("count") = 0, nb::arg("expendable") = false,
              "A new object: its handle. Types: stack, queue, stream, array, file.")
        .def("find", [](PyStore &self, const nb::str &name) {
            return store_checked(nw_store_find(self.get(), name_of(name).c_str()));
        }, nb::arg("name"), "The handle of an object.")
        .def("rename", [](PyStore &self, int handle, const nb::str &name) {
            (void)store_checked(nw_store_rename(self.get(), handle, name_of(name).c_str()));
        }, nb::arg("handle"), nb::arg("name"), "An object that has this name gives way.")
        .def("delete", [](PyStore &self, int handle) {
            (void)store_checked(nw_store_delete(self.get(), handle));
        }, nb::arg("handle"));
    bind_lists(store);
    bind_files(store);
    store.def("set", &set_value, nb::arg("handle"), nb::arg("key"), nb::arg("value"))
        .def("get", &get_value, nb::arg("handle"), nb::arg("key"))
        .def("next_key", &next_key, nb::arg("handle"), nb::arg("key"),
             "The first key of an array from `key` on that was set, or None.");
}
