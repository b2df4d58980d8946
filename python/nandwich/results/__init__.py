# SPDX-License-Identifier: Apache-2.0
"""Results that verbs wrote as JSON: read again, reduced to configurations with figures, compared.

`read` gives the whole document, `figures` what can be laid side by side, `comparison` does that.
"""
