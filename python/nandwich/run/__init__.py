# SPDX-License-Identifier: Apache-2.0
"""`nandwich run`: a program built twice, run natively and over flash, and compared."""
