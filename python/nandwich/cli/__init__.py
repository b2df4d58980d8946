# SPDX-License-Identifier: Apache-2.0
"""The `nandwich` command: one file a verb (`verb_<name>.py` exposing `command`), found by its
name."""
