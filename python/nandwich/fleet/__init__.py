# SPDX-License-Identifier: Apache-2.0
"""Many nodes in the field: what differs between them, how long each lives, and what ends it."""
