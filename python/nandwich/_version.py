# SPDX-License-Identifier: Apache-2.0
"""The version for Python; core/include/nandwich/version.h says the same, held by a test."""

__version__ = "0.1.0"
