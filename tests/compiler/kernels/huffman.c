/* SPDX-License-Identifier: Apache-2.0 */
/* Huffman coding and decoding of text-like bytes: trees, bit streams, tables of structs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BYTES 30000
static uint8_t text[BYTES], packed[2 * BYTES], back[BYTES];
static struct {
    uint32_t count;
    int16_t left, right, parent;
} tree[511];
static struct {
    uint32_t code;
    uint8_t bits;
} codes[256];

static int lightest(int nodes)
{
    int best = -1;

    for (int i = 0; i < nodes; i++) {
        if (tree[i].parent < 0 && tree[i].count > 0 &&
            (best < 0 || tree[i].count < tree[best].count)) {
            best = i;
        }
    }
    return best;
}

static int build(void)
{
    int nodes = 256;

    for (int i = 0; i < 511; i++) {
        tree[i].left = tree[i].right = tree[i].parent = -1;
    }
    for (int i = 0; i < BYTES; i++) {
        tree[text[i]].count++;
    }
    for (;;) {
        int a = lightest(nodes);
        tree[a].parent = 0;
        int b = lightest(nodes);
        if (b < 0) {
            tree[a].parent = -1;
            return a;
        }
        tree[nodes].count = tree[a].count + tree[b].count;
        tree[nodes].left = (int16_t)a;
        tree[nodes].right = (int16_t)b;
        tree[a].parent = tree[b].parent = (int16_t)nodes;
        nodes++;
    }
}

static void assign(int root)
{
    for (int i = 0; i < 256; i++) {
        codes[i].bits = 0;
        codes[i].code = 0;
        for (int n = i; tree[i].count > 0 && n != root; n = tree[n].parent) {
            int right = tree[tree[n].parent].right == n;

            codes[i].code |= (uint32_t)right << codes[i].bits++;
        }
    }
}

int main(void)
{
    uint32_t x = 1, sum = 0;
    size_t bits = 0, at = 0;

    for (int i = 0; i < BYTES; i++) {
        x = x * 1664525U + 1013904223U;
        text[i] = (uint8_t)("etaoin shrdlu, and so on."[(x >> 20) % 25] + ((x >> 9) % 29 == 0));
    }
    int root = build();
    assign(root);
    for (int i = 0; i < BYTES; i++) {
        for (int b = codes[text[i]].bits - 1; b >= 0; b--) {
            packed[bits / 8] |= (uint8_t)(((codes[text[i]].code >> b) & 1U) << (bits % 8));
            bits++;
        }
    }
    for (int i = 0; i < BYTES; i++) {
        int n = root;

        while (tree[n].left >= 0) {
            n = (packed[at / 8] >> (at % 8)) & 1U ? tree[n].right : tree[n].left;
            at++;
        }
        back[i] = (uint8_t)n;
    }
    for (size_t i = 0; i < bits / 8; i++) {
        sum = sum * 31 + packed[i];
    }
    printf("%zu bits, %08x, %s\n", bits, sum, memcmp(text, back, BYTES) == 0 ? "same" : "differs");
    return 0;
}
