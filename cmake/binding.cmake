# SPDX-License-Identifier: Apache-2.0
# What the two extension modules are built with: Python's headers and nanobind from the environment.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
    COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT
    COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
