/* SPDX-License-Identifier: Apache-2.0 */
/* A treap of structs on the heap: insert, look up, remove, with pointers to pointers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct node {
    struct node *child[2];
    uint32_t key, weight, value;
} node;

static node *root;
static uint32_t state = 99;

static uint32_t next(void)
{
    state = state * 1664525U + 1013904223U;
    return state >> 4;
}

static void turn(node **at, int side)
{
    node *up = (*at)->child[side];

    (*at)->child[side] = up->child[!side];
    up->child[!side] = *at;
    *at = up;
}

static void insert(node **at, uint32_t key)
{
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
        (*at)->key = key;
        (*at)->weight = next();
        return;
    }
    if ((*at)->key == key) {
        (*at)->value++;
        return;
    }
    int side = key > (*at)->key;
    insert(&(*at)->child[side], key);
    if ((*at)->child[side]->weight < (*at)->weight) {
        turn(at, side);
    }
}

static void drop(node **at, uint32_t key)
{
    while (*at != NULL && (*at)->key != key) {
        at = &(*at)->child[key > (*at)->key];
    }
    while (*at != NULL) {
        node *n = *at;

        if (n->child[0] == NULL || n->child[1] == NULL) {
            *at = n->child[n->child[0] == NULL];
            free(n);
            return;
        }
        int side = n->child[1]->weight < n->child[0]->weight;
        turn(at, side);
        at = &(*at)->child[!side];
    }
}

static uint32_t sum_of(const node *n, uint32_t sum)
{
    if (n == NULL) {
        return sum;
    }
    sum = sum_of(n->child[0], sum);
    return sum_of(n->child[1], sum * 31 + n->key + n->value);
}

int main(void)
{
    for (int i = 0; i < 5000; i++) {
        insert(&root, next() % 3000);
    }
    for (int i = 0; i < 2500; i++) {
        drop(&root, next() % 3000);
    }
    printf("%08x\n", sum_of(root, 0));
    return 0;
}
