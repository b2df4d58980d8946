// SPDX-License-Identifier: Apache-2.0
// The tables of parts and platforms, and part descriptions set field by field.
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bind_twin.hpp"

namespace nb = nanobind;

namespace {

using Row = std::tuple<std::string, std::string, std::string>;
// key, help, form of a value, kind as in enum nw_field_kind, words allowed
using Field = std::tuple<std::string, std::string, std::string, int, std::vector<std::string>>;

std::vector<Row> rows_of(const nw_part_entry *entry)
{
    std::vector<Row> rows;

    for (uint32_t i = 0; i < entry->count; i++) {
        const nw_part_row &row = entry->rows[i];

        rows.emplace_back(row.key, row.value, row.source);
    }
    return rows;
}

std::vector<Field> fields_of(const nw_field *fields, size_t count)
{
    std::vector<Field> described;

    for (size_t i = 0; i < count; i++) {
        std::vector<std::string> words;

        for (const char *const *word = fields[i].choices; word != nullptr && *word != nullptr;
             word++) {
            words.emplace_back(*word);
        }
        described.emplace_back(fields[i].key, fields[i].help, nw_field_form(&fields[i]),
                               static_cast<int>(fields[i].kind), words);
    }
    return described;
}

const nw_field &part_field(const std::string &key)
{
    size_t count;
    const nw_field *fields = nw_part_fields(&count);
    const nw_field *field = nw_field_find(fields, count, key.c_str());

    if (field == nullptr) {
        throw nb::key_error(key.c_str());
    }
    return *field;
}

std::string field_text(const nw_field &field, const void *object)
{
    char text[256];

    if (nw_field_text(&field, object, text, sizeof text) < 0) {
        throw std::runtime_error(std::string("no text for ") + field.key);
    }
    return text;
}

void set_field(PyPart &self, const std::string &key, const std::string &value)
{
    const nw_field &field = part_field(key);
    int error = nw_field_set(&field, &self.part, value.c_str());

    if (error == NW_ERR_CONFIG) {
        throw nb::value_error(("must be " + std::string(nw_field_form(&field))).c_str());
    }
    if (error < 0) {
        throw nb::value_error("out of range");
    }
}

std::optional<std::string> check(const PyPart &self)
{
    const char *why = nullptr;

    if (nw_part_check(&self.part, &why) < 0) {
        return std::string(why);
    }
    return std::nullopt;
}

PyPart named(const std::string &name)
{
    PyPart found;

    if (nw_parts_get(name.c_str(), &found.part) < 0) {
        throw nb::key_error(name.c_str());
    }
    return found;
}

std::vector<Row> platform_rows(const std::string &name)
{
    int index = nw_platforms_find(name.c_str());

    if (index < 0) {
        throw nb::key_error(name.c_str());
    }
    return rows_of(nw_platforms_at(static_cast<uint32_t>(index)));
}

std::vector<Row> part_rows(const std::string &name)
{
    int index = nw_parts_find(name.c_str());

    if (index < 0) {
        throw nb::key_error(name.c_str());
    }
    return rows_of(nw_parts_at(static_cast<uint32_t>(index)));
}

// Field of a platform as (text, number).
std::tuple<std::string, uint64_t> platform_value(const std::string &name, const std::string &key)
{
    nw_platform platform;
    size_t count;
    const nw_field *fields = nw_platform_fields(&count);
    const nw_field *field = nw_field_find(fields, count, key.c_str());

    if (nw_platforms_get(name.c_str(), &platform) < 0 || field == nullptr) {
        throw nb::key_error((name + " " + key).c_str());
    }
    return { field_text(*field, &platform), nw_field_number(field, &platform) };
}

} // namespace

void bind_parts(nb::module_ &m)
{
    m.def("part_names", [] {
        std::vector<std::string> names;

        for (uint32_t i = 0; i < nw_parts_count(); i++) {
            names.emplace_back(nw_parts_at(i)->rows[0].value);
        }
        return names;
    }, "Names of the parts table, in its order.");
    m.def("part_rows", &part_rows, nb::arg("name"),
          "A part's (key, value, source) rows; KeyError.");
    m.def("part_fields", [] {
        size_t count;
        const nw_field *fields = nw_part_fields(&count);

        return fields_of(fields, count);
    }, "Every field of a part: key, help, form of a value, kind, words allowed.");
    m.def("platform_names", [] {
        std::vector<std::string> names;

        for (uint32_t i = 0; i < nw_platforms_count(); i++) {
            names.emplace_back(nw_platforms_at(i)->rows[0].value);
        }
        return names;
    }, "Names of nodes and radios.");
    m.def("platform_rows", &platform_rows, nb::arg("name"),
          "A platform's (key, value, source) rows; KeyError.");
    m.def("platform_fields", [] {
        size_t count;
        const nw_field *fields = nw_platform_fields(&count);

        return fields_of(fields, count);
    }, "Every field of a platform, as part_fields().");
    m.def("platform_value", &platform_value, nb::arg("name"), nb::arg("key"),
          "A platform's field as (text, number in base units); KeyError.");

    nb::class_<PyPart>(m, "Part", "A part's description, set and read field by field.")
        .def("__init__", [](PyPart *self) {
            new (self) PyPart();
            nw_part_init(&self->part);
        })
        .def_static("named", &named, nb::arg("name"),
                    "The part of that name, in any letter case; KeyError.")
        .def("set", &set_field, nb::arg("key"), nb::arg("value"),
             "Sets a field from text. KeyError: no such field; ValueError says what is allowed.")
        .def("text", [](const PyPart &self, const std::string &key) {
            return field_text(part_field(key), &self.part);
        }, nb::arg("key"), "A field as text; KeyError.")
        .def("number", [](const PyPart &self, const std::string &key) {
            return nw_field_number(&part_field(key), &self.part);
        }, nb::arg("key"), "A field in base units (B, ns, ps, pJ, nW); KeyError.")
        .def("check", &check, "Why the part cannot be opened; None if it can.")
        .def_prop_ro("name", [](const PyPart &self) { return std::string(self.part.name); })
        .def_prop_ro("bytes", [](const PyPart &self) { return nw_part_bytes(&self.part); })
        .def_prop_ro("has_node_costs", [](const PyPart &self) {
            return nw_part_has_node_costs(&self.part) != 0;
        });
}
