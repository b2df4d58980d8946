/* SPDX-License-Identifier: Apache-2.0 */
/* A linked list built in one order and walked in another: no stream at all. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
    char pad[20];
};

int main(void)
{
    struct node *nodes[64] = {0}, *list = NULL;
    unsigned sum = 0;

    for (int i = 0; i < 6400; i++) {
        struct node *n = malloc(sizeof *n);

        n->value = i * 3;
        n->next = nodes[i % 64];
        nodes[i % 64] = n;
    }
    for (int i = 0; i < 64; i++) {
        while (nodes[i] != NULL) {
            struct node *n = nodes[i];

            nodes[i] = n->next;
            n->next = list;
            list = n;
        }
    }
    for (struct node *n = list; n != NULL; n = n->next) {
        sum = sum * 31 + (unsigned)n->value;
    }
    while (list != NULL) {
        struct node *next = list->next;

        free(list);
        list = next;
    }
    printf("%u\n", sum);
    return 0;
}
