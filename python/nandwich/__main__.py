# SPDX-License-Identifier: Apache-2.0
"""`python -m nandwich` is the `nandwich` command."""

from nandwich.cli.main import main

main(prog_name="nandwich")
