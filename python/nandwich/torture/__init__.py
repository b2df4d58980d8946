# SPDX-License-Identifier: Apache-2.0
"""The simulation of tests/sim as a user calls it."""
