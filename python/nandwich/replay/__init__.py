# SPDX-License-Identifier: Apache-2.0
"""Traces and workloads played on an emulated device."""
