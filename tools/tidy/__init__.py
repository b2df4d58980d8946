# SPDX-License-Identifier: Apache-2.0
"""Tidy: the house rules, checked by a program instead of remembered by people.

Run it with `make tidy`. `tidy.check.check(root)` gives every finding in the tree at `root`; what an
entry of tools/tidy.ratchet allows is let pass by `tidy.ratchet`, and that file may only shrink.
"""
