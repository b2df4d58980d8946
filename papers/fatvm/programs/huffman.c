/* SPDX-License-Identifier: Apache-2.0 */
/*
 * huffman.c - Huffman compression of a log held in memory, and back again.
 *
 *     huffman BYTES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS = 256, NODES = 2 * SYMBOLS };

static unsigned long weight[NODES];
static int parent[NODES], child[NODES][2];
static unsigned code[SYMBOLS], length[SYMBOLS];

static unsigned seed = 1;

static unsigned dice(void)
{
    seed = seed * 1103515245U + 12345U;
    return seed >> 16;
}

/* Lines of a node's diary: times that grow, a sensor's name, a reading. */
static void write_log(char *text, unsigned long bytes)
{
    static const char *const names[] = {"light", "temperature", "humidity", "battery"};
    unsigned long at = 0, second = 0;
    char line[64];

    while (at < bytes) {
        int n = snprintf(line, sizeof line, "%lu %s %u\n", second += dice() % 7,
                         names[dice() % 4], 400 + dice() % 97);

        for (int i = 0; i < n && at < bytes; i++) {
            text[at++] = line[i];
        }
    }
}

/* The two lightest nodes without a parent; -1 when only one is left. */
static int lightest(int nodes, int *second)
{
    int first = -1;

    *second = -1;
    for (int i = 0; i < nodes; i++) {
        if (parent[i] >= 0 || weight[i] == 0) {
            continue;
        }
        if (first < 0 || weight[i] < weight[first]) {
            *second = first;
            first = i;
        } else if (*second < 0 || weight[i] < weight[*second]) {
            *second = i;
        }
    }
    return first;
}

static int build_tree(void)
{
    int nodes = SYMBOLS, a, b;

    memset(parent, -1, sizeof parent);
    for (;;) {
        a = lightest(nodes, &b);
        if (b < 0) {
            break;
        }
        weight[nodes] = weight[a] + weight[b];
        child[nodes][0] = a;
        child[nodes][1] = b;
        parent[a] = parent[b] = nodes++;
    }
    for (int i = 0; i < SYMBOLS; i++) {
        for (int node = i; weight[i] > 0 && parent[node] >= 0; node = parent[node]) {
            code[i] |= (unsigned)(child[parent[node]][1] == node) << length[i]++;
        }
    }
    return a; /* the root */
}

static unsigned long pack(const unsigned char *text, unsigned long bytes, unsigned char *out)
{
    unsigned long bit = 0;

    for (unsigned long i = 0; i < bytes; i++) {
        for (unsigned n = length[text[i]]; n > 0; n--, bit++) {
            out[bit / 8] |= (unsigned char)((code[text[i]] >> (n - 1) & 1U) << bit % 8);
        }
    }
    return bit;
}

static unsigned long unpack(const unsigned char *in, unsigned long bits, int root,
                            const unsigned char *text)
{
    unsigned long same = 0;

    for (unsigned long bit = 0; bit < bits;) {
        int node = root;

        while (node >= SYMBOLS) {
            node = child[node][in[bit / 8] >> bit % 8 & 1];
            bit++;
        }
        if (text[same] != node) {
            break;
        }
        same++;
    }
    return same;
}

int main(int argc, char **argv)
{
    unsigned long bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 65536, bits;
    unsigned char *text = malloc(bytes), *packed = calloc(bytes, 1);
    int root;

    if (text == NULL || packed == NULL) {
        return 1;
    }
    write_log((char *)text, bytes);
    for (unsigned long i = 0; i < bytes; i++) {
        weight[text[i]]++;
    }
    root = build_tree();
    bits = pack(text, bytes, packed);
    printf("%lu bytes packed to %lu\n", bytes, (bits + 7) / 8);
    return unpack(packed, bits, root, text) == bytes ? 0 : 1;
}
