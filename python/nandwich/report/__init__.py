# SPDX-License-Identifier: Apache-2.0
"""Results as one page that opens without a network.

`book` has what a page shows: choices, and pictures with their tables. `of_replays`, `of_tune`,
`of_others` and `of_figures` fill it from documents; `page` makes the HTML, with forms.js, page.js,
page.css and the plotting library (tools/assets.txt) inside.
"""
