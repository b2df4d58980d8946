# SPDX-License-Identifier: Apache-2.0
"""`nandwich cc`: the compiler with the pass, and what its errors mean."""
