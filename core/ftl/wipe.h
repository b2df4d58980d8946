/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wipe.h - how a format ends the device that was there. A cut in its midst must not leave half of
 * that device, which mounts as if it were whole; nor may any number of formats, each of them cut.
 * What a cut has torn may hide when the next format looks, and show when it has been cut.
 *
 * A device is found by its newest list (mark.h), a root of the tree layer. Data is behind it, and
 * behind each older one: no order of erases will do. So a device is made unknown first, by a void
 * list (NW_MARK_VOID), newer than all. It goes to a block that the next mount would have erased for
 * a list of its own: that one holds nothing. A second page behind it shows that the void list is
 * whole, and names the block where the next format may write its own. Then all other blocks are
 * erased, and last those two.
 *
 * Why that is right however often it is cut. Call the two blocks A and B. A block looks whole when
 * it shows a void list, newer than all lists, and its second page.
 *   - No format erases A or B when it looks whole, before it has erased all other blocks. It writes
 *     its own void list to the one that does not look so.
 *   - A format erases what may hold data when it has itself written both pages of a void list; it
 *     does not rely on one that it has found, which may be torn. Or when A and B both look whole:
 *     then it writes none.
 *   - As long as no format came so far, the device is whole, and A and B hold nothing for it.
 *   - The first that had written its own has left a block that is whole for good, and looks so to
 *     each format. So it stays, whatever the other block shows, now and later.
 *   - A block whose erase was cut may hide a list and show it later. But the void lists go only
 *     when one and the same format has erased all other blocks to the end.
 * Where no list shows, blocks that show no data go first: one may hide in them.
 *
 * Limits. Both blocks may look whole when neither is for good: two formats in a row were cut in
 * their second page. That does no harm as long as their first pages are there, and they are. But if
 * the third format is cut as it erases, two more may each see one of the two no more, and be cut as
 * they erase it. It takes five cuts, and two pages that look now so and now otherwise. Where a list
 * names but one good block in reserve, or one of the two fails, a format relies on the void list
 * that it finds in the other: it takes three cuts.
 *
 * A chip on which each block's first page looks blank is erased in order: to look at all pages of a
 * new chip takes as long as to erase it.
 */
#ifndef NANDWICH_FTL_WIPE_H
#define NANDWICH_FTL_WIPE_H

#include "nandwich/chip.h"
#include "nandwich/stats.h"

/*
 * A format: ends the device that was there, and erases every good block. A block that fails is
 * marked bad: ask for bad blocks after this. `stats` (NULL: nowhere) counts tags read, programs,
 * erases and blocks marked. NW_OK or the chip's error. Cost: the tag of each block's first page and
 * of those behind it that the same mount wrote, or that are none, and an erase a block; where a
 * list was found the same again of newer lists, and up to 2 erases and 2 programs; where there is
 * none, but some block is not blank, twice the tags of each block's pages up to the first that
 * shows data.
 * Where the spare bytes have no room for a tag blocks are erased in their order, no more. Stack:
 * about 250 bytes.
 */
int nw_wipe_chip(struct nw_chip *chip, struct nw_stats *stats);

#endif
