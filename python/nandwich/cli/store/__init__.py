# SPDX-License-Identifier: Apache-2.0
"""The parts of `nandwich store`, by what they are about."""
