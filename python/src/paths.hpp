// SPDX-License-Identifier: Apache-2.0
// Paths that need not be UTF-8: they come as Python keeps them (os.fsencode), and messages that
// hold one go back so.
#pragma once

#include <nanobind/nanobind.h>

#include <cerrno>
#include <string>

// A path as the system has it. Arguments of this type take a str.
struct FilePath {
    std::string text;

    const char *c_str() const { return text.c_str(); }
};

template <> struct nanobind::detail::type_caster<FilePath> {
    NB_TYPE_CASTER(FilePath, const_name("str"))

    bool from_python(handle source, uint8_t, cleanup_list *) noexcept
    {
        PyObject *bytes = nullptr;

        if (!PyUnicode_Check(source.ptr()) || PyUnicode_FSConverter(source.ptr(), &bytes) == 0) {
            PyErr_Clear();
            return false;
        }
        value.text.assign(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
        Py_DECREF(bytes);
        return true;
    }

    static handle from_cpp(const FilePath &path, rv_policy, cleanup_list *) noexcept
    {
        return PyUnicode_DecodeFSDefault(path.c_str());
    }
};

// Throws the Python exception `kind` with a text that may hold a path.
[[noreturn]] inline void throw_text(PyObject *kind, const std::string &text)
{
    nanobind::gil_scoped_acquire held; // long calls let go of it
    PyObject *message = PyUnicode_DecodeFSDefault(text.c_str());

    if (message != nullptr) {
        PyErr_SetObject(kind, message);
        Py_DECREF(message);
    }
    throw nanobind::python_error();
}

// Throws the OSError of errno about a file.
[[noreturn]] inline void throw_errno(const FilePath &path)
{
    const int cause = errno;
    nanobind::gil_scoped_acquire held;

    errno = cause;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
    throw nanobind::python_error();
}
