/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content.h - what a block of a disk is, told from the blocks alone: superblock, group descriptors,
 * bitmaps, inode tables, journal and directories of ext4; tables of a qcow2 image that lies as a
 * file in it; and the same of an ext4 inside that image. Neither guest nor host is changed.
 *
 * HOW IT KNOWS. It is shown what is written, and what is read where that is new to it. A partition
 * table tells where volumes lie, a superblock how a volume is cut, its descriptors where bitmaps
 * and inode tables are. A file whose first block begins a qcow2 image is looked up in the inode
 * tables; its extents, the image's header and the tables L1 and L2 tell which block of the disk is
 * which block of the guest's disk. There the same begins again, once: an image in a guest's own
 * file system is data.
 *
 * WHAT IT WANTS. What it was never shown it asks for: as long as nw_content_want() answers 1, read
 * that from the disk, in idle time, and show all of it in one call. Where only a part of a block
 * that tells something is written, it asks for the whole. Until then blocks may pass as data.
 * Formats, resizes and replays of a journal are writes like others: what they change is looked at
 * again.
 *
 * WHAT COMES TOO EARLY. A new cluster of an image is written before the table that tells what it
 * is, a new block of an image's file before the inode, and a guest's tables before its superblock:
 * that first write passes as data. When what it is turns out, nw_content_again() names the place.
 *
 * WHAT IT CANNOT KNOW. An image's first block that was shown before the superblock is known: the
 * image is found when that block is shown again, as whoever opens the image reads it. What stands
 * only in a journal counts when it is written to its place. What enum nw_content_unknown lists is
 * data, and named in `unknown` when met.
 *
 * COST, whatever bytes are shown, tables that overlap, loop or lie too. see: a file system block
 * at a time, log2(3 x groups) steps for each; a block of inodes or descriptors a step an entry; a
 * table that moves positions sorts 3 x groups numbers at the next question. class: log2(3 x groups)
 * + log2(extents) steps, twice for a guest. want and again: at most a look at all that is held. No
 * call reads or writes anything itself.
 *
 * RAM: nw_content_ram_bytes(): for each volume, and once more for the disk itself, 24 bytes a
 * group, 16 an extent and 540 at most; for each image 16 an extent, 4 a cluster, 4 an entry of its
 * L1 and 460 at most; and 40. A disk of 64 GiB in blocks of 4 KiB, one volume and 64 extents:
 * 27 KB. With a guest of 16 GiB in clusters of 64 KiB, which is a volume more: 1.1 MB, of it 1 MB
 * for its clusters.
 */
#ifndef NANDWICH_CONTENT_H
#define NANDWICH_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nw_content_class {
    NW_CONTENT_UNKNOWN, /* no file system is known there */
    NW_CONTENT_PARTITIONS,
    NW_CONTENT_SUPERBLOCK,
    NW_CONTENT_DESCRIPTORS, /* of groups, those kept for growth too */
    NW_CONTENT_BITMAP,      /* of blocks and inodes */
    NW_CONTENT_INODES,
    NW_CONTENT_JOURNAL,
    NW_CONTENT_DIRECTORY,
    NW_CONTENT_DATA,
    NW_CONTENT_IMAGE, /* an image's header, L1, L2 and counts of references */
    NW_CONTENT_CLASSES
};

#define NW_CONTENT_GUEST 0x10U /* beside a class: of a guest, in an image */
#define NW_CONTENT_NODES 24U   /* blocks of a file's extent tree that can be followed */

struct nw_content_config {
    uint64_t bytes;    /* of the disk */
    uint16_t volumes;  /* file systems and partitions, guests' too; a disk has one beside these */
    uint16_t images;   /* 0: images are data */
    uint32_t groups;   /* of a volume, at most; a larger one is left alone; up to 1,000,000 */
    uint32_t extents;  /* of an image's file and of a journal, at most; up to 65,535 */
    uint32_t clusters; /* of an image's file, at most; what lies behind is data */
    uint32_t l1;       /* entries of an image's L1, at most */
};

/* A stretch of a file, in blocks of its file system. */
struct nw_content_extent {
    uint32_t first; /* on the volume */
    uint32_t from;  /* in the file */
    uint32_t count;
    uint32_t node; /* which told of it; 0: the inode */
};

/* Blocks of a file; none: first is end. */
struct nw_content_range {
    uint32_t first;
    uint32_t end; /* before this one */
};

/* Where a file lies: its extents as its inode and the tree below it tell. */
struct nw_content_file {
    struct nw_content_extent *extent; /* in order of `first` */
    uint32_t count;
    uint32_t room;
    uint32_t node[NW_CONTENT_NODES]; /* blocks of the tree, from 1; 0: none */
    uint32_t sum[NW_CONTENT_NODES]; /* of what each told last; 0: nothing yet */
    uint8_t depth[NW_CONTENT_NODES];
    uint8_t unread[NW_CONTENT_NODES];
    struct nw_content_range news;  /* what has a place only now: what it holds is not looked at */
    struct nw_content_range again; /* whose answer changed, or may have */
    uint8_t root[60];
    uint8_t nodes;
};

/* A partition, or a whole disk: the device's or a guest's. */
struct nw_content_volume {
    uint64_t start; /* in its space */
    uint64_t bytes;
    uint32_t blocks;
    uint32_t first_block;
    uint32_t per_group; /* blocks */
    uint32_t inodes;    /* a group */
    uint32_t groups;
    uint32_t table;       /* blocks of an inode table */
    uint32_t descriptors; /* blocks of them, without those kept */
    uint32_t kept;        /* for growth, behind them */
    uint32_t first_meta;  /* META_BG: groups of descriptors from here on lie apart */
    uint32_t backup[2];   /* SPARSE_SUPER2 */
    uint32_t *place;      /* block bitmap, inode bitmap, inode table of each group; 0: not known */
    uint32_t *order;      /* of those, by place */
    uint32_t next;        /* block of descriptors to look at */
    uint32_t scan;        /* block of inodes to look at for an image */
    uint32_t probe;       /* a block of extents that may be an image's; 0: none */
    uint32_t probe_inode;
    uint32_t probed;      /* up to this inode, by the look at all in order */
    struct nw_content_file journal;
    uint8_t probe_root[60];
    uint8_t probe_depth;
    uint8_t uuid[16];
    uint16_t desc_bytes;
    uint16_t inode_bytes;
    uint16_t entry;  /* in the partition table, from 1; 0: the whole space */
    uint8_t space;   /* 0: the disk; else image + 1 */
    uint8_t used;    /* 1: there is such a volume */
    uint8_t ext;     /* 1: and an ext2, 3 or 4 in it */
    uint8_t shift;   /* of bytes to blocks */
    uint8_t sparse;  /* who has copies: 0 each group, 1 SPARSE_SUPER, 2 SPARSE_SUPER2 */
    uint8_t meta_bg;
    uint8_t seen;    /* its superblock's place was looked at */
    uint8_t sorted;
    uint8_t cleared; /* its file system went, its images have to */
    uint8_t again;   /* 1: its blocks' answers changed */
};

/* A disk that may hold volumes. */
struct nw_content_space {
    uint64_t bytes;
    uint64_t table_at; /* of GPT, bytes */
    uint32_t table_bytes;
    uint32_t table_next; /* bytes of it looked at */
    uint16_t entry_bytes;
    uint8_t seen;
    uint8_t divided; /* 1: it has a partition table */
};

struct nw_content_image {
    struct nw_content_file file;
    uint64_t l1_at;
    uint64_t counts_at;
    uint32_t first;   /* block of the host's file system in which it begins */
    uint32_t inode;   /* 0: not found yet */
    uint32_t *cluster; /* what each cluster of the file is */
    uint32_t *l2;     /* by entry of L1: cluster of that L2; bit 31: it is to be looked at */
    uint32_t l1;      /* entries */
    uint32_t l1_next; /* bytes of L1 looked at */
    uint32_t l2_next;
    uint32_t l2_bytes; /* of that L2, looked at */
    uint32_t counts;  /* clusters that the table of reference counts has */
    uint32_t counts_next; /* bytes of it looked at */
    uint16_t volume;
    uint8_t used;
    uint8_t shift; /* of bytes to clusters; 0: the header is not known */
    uint8_t header_seen;
    uint8_t sealed; /* what is in clusters cannot be read */
    uint8_t wide;   /* 1: sub-clusters, an entry of L2 is two words */
};

/* What was asked for last. */
struct nw_content_asked {
    uint64_t at;
    uint32_t bytes;
    uint32_t place; /* where its cursor stood */
    uint16_t object;
    uint8_t what; /* 0: nothing */
};

/* What it can meet and does not know: this counts as data. */
enum nw_content_unknown {
    NW_CONTENT_JOURNAL_PLACE,  /* of a journal: indirect blocks, as ext3 has it, or elsewhere */
    NW_CONTENT_LOGICAL,        /* partitions beyond the four of an MBR */
    NW_CONTENT_INDIRECT_FILE,  /* an image's, in indirect blocks */
    NW_CONTENT_SMALL_CLUSTERS, /* of 512 bytes */
    NW_CONTENT_DATA_FILE,      /* an image with one */
    NW_CONTENT_ENCRYPTED,
    NW_CONTENT_COMPRESSED,     /* clusters */
    NW_CONTENT_SNAPSHOTS,      /* their tables */
    NW_CONTENT_UNKNOWNS
};

/* All fields are the recogniser's own; `refused` and `unknown` may be read. */
struct nw_content {
    struct nw_content_config config;
    struct nw_content_volume *volume;
    struct nw_content_space *space;
    struct nw_content_image *image;
    struct nw_content_asked asked;
    uint8_t cleared;
    uint16_t unknown; /* by bit enum nw_content_unknown: what was met since it was opened */
    uint32_t refused; /* volumes, images and extents for which there was no room */
};

/* Bytes for this configuration; 0: NW_ERR_CONFIG. */
size_t nw_content_ram_bytes(const struct nw_content_config *config);

/* Knows nothing yet. NW_ERR_CONFIG: no bytes, volumes, groups or extents, or more than allowed;
 * images without clusters or l1; more than 250 images. NW_ERR_RAM. */
int nw_content_open(struct nw_content *content, const struct nw_content_config *config, void *ram,
                    size_t ram_bytes);

/* These bytes stand on the disk from `at` on: just written, or read. at and bytes are multiples of
 * 512. data NULL: they cannot be read; what they would tell stays unknown. */
void nw_content_see(struct nw_content *content, uint64_t at, const uint8_t *data, uint32_t bytes);

/* What lies at byte `at`, a multiple of 512: enum nw_content_class, with NW_CONTENT_GUEST. With the
 * bytes from there on directories are told, if these are a whole block of the file system or more;
 * without (data NULL) they are data. *run, unless NULL: bytes that surely have this answer too, at
 * least 512 (with data only for this class of block). */
uint8_t nw_content_class(struct nw_content *content, uint64_t at, const uint8_t *data,
                         uint32_t bytes, uint32_t *run);

/* 1: *bytes from *at on are worth reading, to be shown with nw_content_see(); at most 64 KiB,
 * multiples of 512. 0: nothing is. */
int nw_content_want(struct nw_content *content, uint64_t *at, uint32_t *bytes);

/* 1: *bytes from *at on may have another answer than a write of them had: ask for it again. 0: none
 * have. To be called when nw_content_want() has come to 0: before, what is read then would
 * change it once more. Blocks of images' files alone, at most 64 KiB; each change is told once, and
 * what lies between two is told with them. A found image is told whole, and once more when a file
 * system in it turns out to be cut otherwise or its journal to lie somewhere else. Blocks that are
 * read and written once more for that are not to be shown: they are what they were, and two entries
 * of L2 that name one cluster would have it told without end. */
int nw_content_again(struct nw_content *content, uint64_t *at, uint32_t *bytes);

/* The hint for a request of this class: journal, data, or metadata, which partition tables and an
 * image's tables are too. Directories are data, as in Chen's thesis. */
enum nw_block_hint nw_content_hint(uint8_t class_of);

/* A word for it, without the guest. */
const char *nw_content_name(uint8_t class_of);

/* A few words for one of enum nw_content_unknown. */
const char *nw_content_unknown_name(enum nw_content_unknown what);

#ifdef __cplusplus
}
#endif

#endif
