# SPDX-License-Identifier: Apache-2.0
"""The parts of `nandwich fleet`: what is asked, and which replays answer it."""
