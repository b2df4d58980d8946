/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON text into a fixed buffer, without malloc or stdio, so that a signal handler may use
 * it. Text that does not fit is cut; nw_json_whole() tells.
 */
#ifndef NW_HOST_JSON_H
#define NW_HOST_JSON_H

#include <stddef.h>
#include <stdint.h>

struct nw_json {
    char *text;
    size_t size; /* bytes at text */
    size_t used; /* bytes wanted so far; > size: cut */
    int comma;   /* a value came before in this object */
};

void nw_json_open(struct nw_json *json, const char *name); /* "name": {  (NULL: bare {) */
void nw_json_close(struct nw_json *json);                  /* } */
void nw_json_number(struct nw_json *json, const char *name, uint64_t value);
void nw_json_signed(struct nw_json *json, const char *name, int64_t value);
void nw_json_bool(struct nw_json *json, const char *name, int value);
void nw_json_text(struct nw_json *json, const char *name, const char *value); /* escapes */

static inline int nw_json_whole(const struct nw_json *json)
{
    return json->used <= json->size;
}

/* Write the text and a newline to that file, whole or not at all (file.h). 0, or -1: errno. */
int nw_json_save(const struct nw_json *json, const char *path);

#endif
