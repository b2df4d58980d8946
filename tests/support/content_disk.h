/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_disk.h - the smallest disk that has everything: an ext4 of 1 KiB blocks and two groups
 * with a journal, in it a qcow2 image of 1 KiB clusters, in that an ext4 like the first. All of it
 * in the first blocks, so that bytes changed by chance hit something.
 */
#ifndef NANDWICH_TESTS_CONTENT_DISK_H
#define NANDWICH_TESTS_CONTENT_DISK_H

#include <stdint.h>

#include "nandwich/content.h"

#define CONTENT_BLOCK 1024U
#define CONTENT_BLOCKS 256U
#define CONTENT_NODE 19U   /* block of the journal's tree */
#define CONTENT_JOURNAL 20U
#define CONTENT_IMAGE 32U  /* block in which the image begins */
#define CONTENT_GUEST 36U  /* block that is the guest's block 0; the next ones follow */
#define CONTENT_INODE 7U   /* block of inodes with the image's */
#define CONTENT_WANTS 5000 /* more than any disk of this size can ask for */

struct content_disk {
    uint8_t data[CONTENT_BLOCKS * CONTENT_BLOCK];
};

extern const struct nw_content_config content_disk_config;

/* A block's bytes. */
uint8_t *content_disk_at(struct content_disk *disk, uint32_t block);

void content_disk_make(struct content_disk *disk);

/* Answers what is wanted, to the end: how often, or -1: there is none. */
int content_disk_answer(const struct content_disk *disk, struct nw_content *content);

/* Shows one block; shows all and answers. */
void content_disk_show(const struct content_disk *disk, struct nw_content *content,
                       uint32_t block);
int content_disk_show_all(const struct content_disk *disk, struct nw_content *content);

#endif
