/* SPDX-License-Identifier: Apache-2.0 */
/* tree_root.h - the head of a root, written by the log and read by a mount. Behind it the places of
 * the children, then the entries. */
#ifndef NANDWICH_FTL_TREE_ROOT_H
#define NANDWICH_FTL_TREE_ROOT_H

#include "tree.h"

#define NW_TREE_MAGIC_AT 0U
#define NW_TREE_SECTORS_AT 4U
#define NW_TREE_BLOCKS_AT 8U
#define NW_TREE_PAGES_AT 10U
#define NW_TREE_RESERVE_AT 12U /* the first two of the queue: as in a list of the page layer */
#define NW_TREE_QUEUED_AT 17U
#define NW_TREE_FAILED_COUNT_AT 18U
#define NW_TREE_SOUND_AT 19U
#define NW_TREE_VIRGIN_AT 20U
#define NW_TREE_ENTRIES_AT 22U
#define NW_TREE_QUEUE_AT 24U
#define NW_TREE_FAILED_AT 48U
#define NW_TREE_OWED_AT 60U

#endif
