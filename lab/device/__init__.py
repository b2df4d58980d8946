# SPDX-License-Identifier: Apache-2.0
"""`nandwich run --target`: a program on an emulated board, counted to the instruction."""
