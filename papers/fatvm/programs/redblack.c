/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redblack.c - a red-black tree (left-leaning: Sedgewick 2008) of N readings by random key, then
 * N searches.
 *
 *     redblack N
 */
#include <stdio.h>
#include <stdlib.h>

struct node {
    unsigned key;
    int red;
    struct node *left, *right;
    char reading[32];
};

static unsigned seed = 7;

static unsigned dice(void)
{
    seed = seed * 1664525U + 1013904223U;
    return seed >> 4;
}

static int is_red(const struct node *node)
{
    return node != NULL && node->red;
}

static struct node *turn_left(struct node *node)
{
    struct node *up = node->right;

    node->right = up->left;
    up->left = node;
    up->red = node->red;
    node->red = 1;
    return up;
}

static struct node *turn_right(struct node *node)
{
    struct node *up = node->left;

    node->left = up->right;
    up->right = node;
    up->red = node->red;
    node->red = 1;
    return up;
}

static struct node *insert(struct node *node, unsigned key)
{
    if (node == NULL) {
        node = calloc(1, sizeof *node);
        if (node == NULL) {
            exit(1);
        }
        node->key = key;
        node->red = 1;
        snprintf(node->reading, sizeof node->reading, "reading %u", key);
        return node;
    }
    if (key < node->key) {
        node->left = insert(node->left, key);
    } else if (key > node->key) {
        node->right = insert(node->right, key);
    }
    if (is_red(node->right) && !is_red(node->left)) {
        node = turn_left(node);
    }
    if (is_red(node->left) && is_red(node->left->left)) {
        node = turn_right(node);
    }
    if (is_red(node->left) && is_red(node->right)) {
        node->red = 1;
        node->left->red = node->right->red = 0;
    }
    return node;
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, found = 0;
    struct node *root = NULL;

    for (unsigned long i = 0; i < n; i++) {
        root = insert(root, dice());
        root->red = 0;
    }
    seed = 7; /* the same keys again */
    for (unsigned long i = 0; i < n; i++) {
        unsigned key = dice();
        const struct node *node = root;

        while (node != NULL && node->key != key) {
            node = key < node->key ? node->left : node->right;
        }
        found += node != NULL;
    }
    printf("%lu of %lu found\n", found, n);
    return found == n ? 0 : 1;
}
