# SPDX-License-Identifier: Apache-2.0
"""All rules over one tree."""

from pathlib import Path

from tidy import call_rules, dead_rules, file_rules, layer_rules, text_rules
from tidy.tree import Finding, sources

#: Rules that look at the tree as a whole.
_TREE_RULES = (
    layer_rules.order,
    call_rules.recursion_and_vla,
    file_rules.file_circles,
    file_rules.written_order,
    dead_rules.dead_sources,
    dead_rules.pages,
)


def check(root: Path) -> list[Finding]:
    """Every finding in the tree at `root`, sorted by place."""
    files = sources(root)
    found = [finding for rule in text_rules.RULES for file in files for finding in rule(file)]
    found += [finding for rule in _TREE_RULES for finding in rule(files, root)]
    return sorted(found)
