# SPDX-License-Identifier: Apache-2.0
"""Energy of a node: what `nandwich energy` computes."""
