# SPDX-License-Identifier: Apache-2.0
"""The parts of `nandwich tune`: where it searches, how it searches, and what it answers."""
