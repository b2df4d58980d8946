# SPDX-License-Identifier: Apache-2.0
"""What `nandwich vmtrace` makes of recorded accesses."""
