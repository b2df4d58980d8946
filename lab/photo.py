# SPDX-License-Identifier: Apache-2.0
"""The picture of every run that decodes a JPEG."""

from pathlib import Path


def photo() -> Path:
    """The public-domain portrait in matplotlib's sample data, 512 x 600."""
    from matplotlib.cbook import get_sample_data

    return Path(str(get_sample_data("grace_hopper.jpg", asfileobj=False)))
