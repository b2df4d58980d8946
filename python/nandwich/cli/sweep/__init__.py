# SPDX-License-Identifier: Apache-2.0
"""The parts of `nandwich sweep`: what is asked, how a point is played, what is kept and told."""
