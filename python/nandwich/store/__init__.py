# SPDX-License-Identifier: Apache-2.0
"""Images of object stores: opened, listed, sealed, mounted."""
