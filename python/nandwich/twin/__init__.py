# SPDX-License-Identifier: Apache-2.0
"""The device: parts, platforms, and the device a program runs on."""
