# SPDX-License-Identifier: Apache-2.0
"""The scheduler: scenarios, their outcome, and whether flows may join."""
