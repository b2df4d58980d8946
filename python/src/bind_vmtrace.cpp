// SPDX-License-Identifier: Apache-2.0
// Recorded accesses to virtual memory: read, written, and replacement policies played on them; and
// what these read and write, as a source of requests.
#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "paths.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

extern "C" {
#include "nandwich-vmtrace/access.h"
#include "nandwich-vmtrace/paging.h"
#include "nandwich/error.h"
}

#include "bind_source.hpp"
#include "bind_vmtrace.hpp"

namespace nb = nanobind;

AccessTrace::AccessTrace(const FilePath &path) : path_(path.text)
{
    nw_access_fault fault;
    const int error = nw_access_open(&reader_, path.c_str(), &fault);

    if (error < 0) {
        fail(error, fault);
    }
}

void AccessTrace::fail(int error, const nw_access_fault &fault) const
{
    if (error == NW_ERR_RAM) {
        throw std::bad_alloc();
    }
    std::string text = path_ + ": ";

    if (fault.at > 0) {
        text += "byte " + std::to_string(fault.at) + ": ";
    }
    throw_text(PyExc_ValueError, text + fault.text);
}

namespace {

using Object = std::tuple<uint64_t, uint32_t, uint32_t, nb::str>;

// A name may hold any bytes: those that are no UTF-8 are told as \xff.
nb::str name_of(const nw_access_object &object)
{
    const auto length = static_cast<Py_ssize_t>(std::strlen(object.name));

    return nb::steal<nb::str>(PyUnicode_DecodeUTF8(object.name, length, "backslashreplace"));
}

std::vector<Object> objects(const AccessTrace &trace)
{
    const nw_access_object *first = nullptr;
    const uint32_t count = nw_access_objects(trace.get(), &first);
    std::vector<Object> all;

    for (uint32_t i = 0; i < count; i++) {
        const nw_access_object &one = first[i];

        all.emplace_back(one.address, one.bytes, one.element_bytes, name_of(one));
    }
    return all;
}

// Everything that is left of a trace, as (address, bytes, is a store): for tests and look-ups.
std::vector<std::tuple<uint64_t, uint32_t, bool>> rest(AccessTrace &trace)
{
    std::vector<std::tuple<uint64_t, uint32_t, bool>> all;

    for (;;) {
        nw_access batch[256];
        const int count = trace.read(batch, 256);

        if (count == 0) {
            return all;
        }
        for (int i = 0; i < count; i++) {
            all.emplace_back(batch[i].address, batch[i].bytes, batch[i].write != 0);
        }
    }
}

class AccessWriter {
public:
    AccessWriter(const FilePath &path, uint64_t base, uint64_t range)
        : path_(path.text), writer_(std::make_unique<nw_access_writer>())
    {
        if (nw_access_create(writer_.get(), path.c_str(), base, range) < 0) {
            writer_.reset();
            fail();
        }
    }
    AccessWriter(const AccessWriter &) = delete;
    AccessWriter &operator=(const AccessWriter &) = delete;
    ~AccessWriter()
    {
        if (writer_) {
            (void)nw_access_finish(writer_.get(), 0);
        }
    }

    void object(uint64_t address, uint32_t bytes, uint32_t element, const std::string &name)
    {
        nw_access_object object = { address, bytes, element, {} };

        std::strncpy(object.name, name.c_str(), sizeof object.name - 1);
        nw_access_put_object(open(), &object);
    }
    void put(uint64_t address, uint32_t bytes, bool write)
    {
        nw_access_put(open(), address, bytes, write);
    }
    void finish()
    {
        const int error = nw_access_finish(open(), 1);

        writer_.reset();
        if (error < 0) {
            fail();
        }
    }

private:
    [[noreturn]] void fail() const
    {
        throw_text(PyExc_ValueError, path_ + ": cannot be written: " + std::strerror(errno));
    }
    nw_access_writer *open() const
    {
        if (!writer_) {
            throw nb::value_error("the trace is finished");
        }
        return writer_.get();
    }

    std::string path_;
    std::unique_ptr<nw_access_writer> writer_;
};

class Refs {
public:
    explicit Refs(uint32_t frame_bytes)
    {
        if (frame_bytes == 0) {
            throw nb::value_error("a frame of no bytes");
        }
        check(nw_refs_open(&refs_, frame_bytes));
    }
    Refs(const Refs &) = delete;
    Refs &operator=(const Refs &) = delete;
    ~Refs() { nw_refs_close(&refs_); }

    void add(uint64_t offset, uint32_t bytes, bool write)
    {
        if (bytes == 0 || offset > UINT64_MAX - bytes) {
            throw nb::value_error("an access of no bytes, or behind the last address");
        }
        check(nw_refs_add(&refs_, offset, bytes, write));
    }
    // So many more accesses of a trace; whether there are more.
    bool load(AccessTrace &trace, uint64_t most)
    {
        nb::gil_scoped_release released;
        const uint64_t base = nw_access_base(trace.get());

        for (uint64_t done = 0; done < most;) {
            nw_access batch[256];
            const int count = trace.read(batch, 256);

            if (count == 0) {
                cut_ = trace.cut();
                return false;
            }
            for (int i = 0; i < count; i++) {
                check(nw_refs_add(&refs_, batch[i].address - base, batch[i].bytes,
                                  batch[i].write));
            }
            done += static_cast<uint64_t>(count);
        }
        return true;
    }
    // So many more requests of a block trace; whether there are more.
    bool load_requests(Source &source, uint64_t most)
    {
        nw_io batch[256];
        int count = 1;

        for (uint64_t done = 0; done < most && count > 0; done += static_cast<uint64_t>(count)) {
            count = source.get()->ops->fill(source.get(), batch, 256);
            if (count < 0) {
                source.fail(count);
            }
            for (int i = 0; i < count; i++) {
                add_request(batch[i]);
            }
        }
        return count > 0;
    }
    std::tuple<uint64_t, uint64_t> run(const std::string &policy, uint32_t frames,
                                       uint32_t read_cost, uint32_t write_cost) const
    {
        nw_paging_result result = {};

        play(policy, frames, { read_cost, write_cost }, result);
        return { result.faults, result.writebacks };
    }
    void play(const std::string &policy, uint32_t frames, const nw_paging_cost &cost,
              nw_paging_result &result) const
    {
        const nw_paging_policy *found = nw_paging_find(policy.c_str());

        if (found == nullptr) {
            throw nb::value_error(("no policy " + policy).c_str());
        }
        nb::gil_scoped_release released;
        check(nw_paging_run(found, &refs_, frames, &cost, &result));
    }
    std::tuple<std::vector<uint64_t>, std::vector<uint64_t>> lru_curve(uint32_t most) const
    {
        if (most == 0 || most > 1U << 24) {
            throw nb::value_error("frames out of range");
        }
        std::vector<uint64_t> faults(most);
        std::vector<uint64_t> writebacks(most);
        nb::gil_scoped_release released;

        check(nw_paging_lru_curve(&refs_, most, faults.data(), writebacks.data()));
        return { faults, writebacks };
    }
    const nw_refs &get() const { return refs_; }
    const std::string &cut() const { return cut_; }

private:
    static constexpr uint64_t most_requested = 1U << 28; // a GiB of references

    // A request may be longer than an access.
    void add_request(const nw_io &io)
    {
        constexpr uint64_t part = 1U << 30;

        if (io.kind != NW_IO_READ && io.kind != NW_IO_WRITE) {
            return;
        }
        if (refs_.count + io.bytes / refs_.frame_bytes > most_requested) {
            throw_text(PyExc_ValueError,
                       "more than 2^28 pages are asked for: take larger pages, or a sample");
        }
        for (uint64_t at = 0; at < io.bytes; at += part) {
            const uint64_t left = io.bytes - at;

            check(nw_refs_add(&refs_, io.offset + at,
                              static_cast<uint32_t>(left < part ? left : part),
                              io.kind == NW_IO_WRITE));
        }
    }
    static void check(int error)
    {
        if (error == NW_ERR_RAM) {
            throw std::bad_alloc();
        }
        if (error < 0) {
            nb::gil_scoped_acquire held;
            throw nb::value_error(nw_error_text(error));
        }
    }

    nw_refs refs_ = {};
    std::string cut_;
};

// What a policy reads and writes, as requests of a device on which the pages lie side by side in
// the order of their addresses.
class PageTraffic : public Source {
public:
    PageTraffic(const Refs &refs, const std::string &policy, uint32_t frames, uint32_t read_cost,
                uint32_t write_cost)
        : frame_bytes_(refs.get().frame_bytes), pages_(refs.get().pages),
          accesses_(refs.get().accesses), references_(refs.get().count), cut_(refs.cut())
    {
        result_.traffic = &traffic_.all;
        refs.play(policy, frames, { read_cost, write_cost }, result_);
        const std::vector<uint32_t> places = places_of(refs.get());

        for (uint64_t i = 0; i < traffic_.all.count; i++) {
            uint32_t &transfer = traffic_.all.transfer[i];

            transfer = places[transfer >> 1] << 1 | (transfer & 1U);
        }
        source_ = { &ops_, this };
    }

    nw_io_source *get() override { return &source_; }
    [[noreturn]] void fail(int error) const override
    {
        throw std::runtime_error(nw_error_text(error));
    }
    uint64_t faults() const { return result_.faults; }
    uint64_t writebacks() const { return result_.writebacks; }
    uint32_t pages() const { return pages_; }
    uint64_t accesses() const { return accesses_; }
    uint64_t references() const { return references_; }
    const std::string &cut() const { return cut_; }

private:
    struct Traffic {
        Traffic() = default;
        Traffic(const Traffic &) = delete;
        Traffic &operator=(const Traffic &) = delete;
        ~Traffic() { nw_paging_traffic_close(&all); }

        nw_paging_traffic all = {};
    };

    // By the number of a page.
    static std::vector<uint32_t> places_of(const nw_refs &refs)
    {
        std::vector<uint32_t> order(refs.pages);
        std::vector<uint32_t> places(refs.pages);

        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(),
                  [&refs](uint32_t a, uint32_t b) { return refs.page[a] < refs.page[b]; });
        for (uint32_t place = 0; place < refs.pages; place++) {
            places[order[place]] = place;
        }
        return places;
    }
    static int fill(nw_io_source *source, nw_io *to, uint32_t room)
    {
        auto *self = static_cast<PageTraffic *>(source->context);
        const nw_paging_traffic &all = self->traffic_.all;
        const auto count = static_cast<uint32_t>(std::min<uint64_t>(room, all.count - self->at_));

        for (uint32_t i = 0; i < count; i++) {
            const uint32_t transfer = all.transfer[self->at_++];

            to[i] = {};
            to[i].offset = static_cast<uint64_t>(transfer >> 1) * self->frame_bytes_;
            to[i].bytes = self->frame_bytes_;
            to[i].kind = (transfer & 1U) != 0 ? NW_IO_WRITE : NW_IO_READ;
        }
        return static_cast<int>(count);
    }
    static int rewind(nw_io_source *source)
    {
        static_cast<PageTraffic *>(source->context)->at_ = 0;
        return NW_OK;
    }

    static constexpr nw_io_source_ops ops_ = { &PageTraffic::fill, &PageTraffic::rewind };
    uint32_t frame_bytes_, pages_;
    uint64_t accesses_, references_;
    std::string cut_;
    Traffic traffic_;
    nw_paging_result result_ = {};
    uint64_t at_ = 0; // the next transfer
    nw_io_source source_ = {};
};

std::vector<std::tuple<std::string, std::string, uint32_t>> policies()
{
    std::vector<std::tuple<std::string, std::string, uint32_t>> all;

    for (uint32_t i = 0; i < nw_paging_policy_count; i++) {
        const nw_paging_policy &policy = nw_paging_policies[i];

        all.emplace_back(policy.name, policy.what, policy.ways);
    }
    return all;
}

} // namespace

void bind_vmtrace(nb::module_ &m)
{
    nb::class_<AccessTrace>(m, "AccessTrace", "Recorded accesses, read as a stream.")
        .def(nb::init<const FilePath &>(), nb::arg("path"), "ValueError tells place and reason.")
        .def_prop_ro("base", [](const AccessTrace &self) { return nw_access_base(self.get()); })
        .def_prop_ro("range_bytes",
                     [](const AccessTrace &self) { return nw_access_range_bytes(self.get()); })
        .def_prop_ro("objects", &objects, "(address, bytes, element bytes, name) of each.")
        .def_prop_ro("cut", &AccessTrace::cut, "Once read: what is missing, '' for nothing.")
        .def("rest", &rest, "(address, bytes, is a store) of all accesses not read yet.")
        .def("rewind", &AccessTrace::rewind);
    nb::class_<AccessWriter>(m, "AccessWriter", "Writes a trace; the file appears at finish().")
        .def(nb::init<const FilePath &, uint64_t, uint64_t>(), nb::arg("path"), nb::arg("base"),
             nb::arg("range_bytes"))
        .def("object", &AccessWriter::object, nb::arg("address"), nb::arg("bytes"),
             nb::arg("element_bytes"), nb::arg("name"))
        .def("put", &AccessWriter::put, nb::arg("address"), nb::arg("bytes"), nb::arg("write"))
        .def("finish", &AccessWriter::finish);
    nb::class_<Refs>(m, "Refs", "References to pages, made of accesses.")
        .def(nb::init<uint32_t>(), nb::arg("frame_bytes"))
        .def("add", &Refs::add, nb::arg("offset"), nb::arg("bytes"), nb::arg("write"))
        .def("load", &Refs::load, nb::arg("trace"), nb::arg("most"),
             "So many more accesses of a trace; whether there are more.")
        .def("load_requests", &Refs::load_requests, nb::arg("source"), nb::arg("most"),
             "The same of a block trace's reads and writes.")
        .def("run", &Refs::run, nb::arg("policy"), nb::arg("frames"), nb::arg("read_cost") = 1,
             nb::arg("write_cost") = 1, "(faults, write-backs) of one policy.")
        .def("lru_curve", &Refs::lru_curve, nb::arg("most"),
             "LRU's faults and write-backs with 1 .. most frames, in one pass.")
        .def_prop_ro("accesses", [](const Refs &self) { return self.get().accesses; })
        .def_prop_ro("references", [](const Refs &self) { return self.get().count; })
        .def_prop_ro("pages", [](const Refs &self) { return self.get().pages; })
        .def_prop_ro("cut", &Refs::cut, "Of a trace loaded to its end: what is missing.");
    nb::class_<PageTraffic, Source>(m, "PageTraffic", "What a policy reads and writes.")
        .def(nb::init<const Refs &, const std::string &, uint32_t, uint32_t, uint32_t>(),
             nb::arg("refs"), nb::arg("policy"), nb::arg("frames"), nb::arg("read_cost") = 1,
             nb::arg("write_cost") = 1, "ValueError: no such policy, or bad frames.")
        .def_prop_ro("faults", &PageTraffic::faults)
        .def_prop_ro("writebacks", &PageTraffic::writebacks)
        .def_prop_ro("pages", &PageTraffic::pages)
        .def_prop_ro("accesses", &PageTraffic::accesses, "This and the next two: of `refs`.")
        .def_prop_ro("references", &PageTraffic::references)
        .def_prop_ro("cut", &PageTraffic::cut);
    m.def("paging_policies", &policies, "(name, what it is, ways of a set or 0) of each policy.");
}
