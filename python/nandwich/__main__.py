# SPDX-License-Identifier: Apache-2.0
"""`python -m nandwich` is the `nandwich` command."""

from nandwich.cli.start import main

main(prog_name="nandwich")
