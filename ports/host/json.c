/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "nandwich-twin/file.h"

#include <string.h>
#include <unistd.h>

static void put(struct nw_json *json, char c)
{
    if (json->used < json->size) {
        json->text[json->used] = c;
    }
    json->used++;
}

static void put_plain(struct nw_json *json, const char *text)
{
    for (; *text != '\0'; text++) {
        put(json, *text);
    }
}

static void put_escaped(struct nw_json *json, const char *text)
{
    static const char hex[] = "0123456789abcdef";

    put(json, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c >= 0x7F) { /* bytes as Latin-1: always valid, never ambiguous */
            put_plain(json, "\\u00");
            put(json, hex[c >> 4]);
            put(json, hex[c & 15U]);
        } else {
            if (c == '"' || c == '\\') {
                put(json, '\\');
            }
            put(json, (char)c);
        }
    }
    put(json, '"');
}

static void put_number(struct nw_json *json, uint64_t value)
{
    char digits[20];
    int count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count > 0) {
        put(json, digits[--count]);
    }
}

static void put_name(struct nw_json *json, const char *name)
{
    if (json->comma) {
        put_plain(json, ", ");
    }
    json->comma = 1;
    if (name != NULL) {
        put_escaped(json, name);
        put_plain(json, ": ");
    }
}

void nw_json_open(struct nw_json *json, const char *name)
{
    put_name(json, name);
    put(json, '{');
    json->comma = 0;
}

void nw_json_close(struct nw_json *json)
{
    put(json, '}');
    json->comma = 1;
}

void nw_json_number(struct nw_json *json, const char *name, uint64_t value)
{
    put_name(json, name);
    put_number(json, value);
}

void nw_json_signed(struct nw_json *json, const char *name, int64_t value)
{
    put_name(json, name);
    if (value < 0) {
        put(json, '-');
    }
    put_number(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void nw_json_bool(struct nw_json *json, const char *name, int value)
{
    put_name(json, name);
    put_plain(json, value ? "true" : "false");
}

void nw_json_text(struct nw_json *json, const char *name, const char *value)
{
    put_name(json, name);
    put_escaped(json, value);
}

static int write_all(int file, const char *text, size_t count)
{
    while (count > 0) {
        ssize_t done = write(file, text, count);

        if (done <= 0) {
            return -1;
        }
        text += done;
        count -= (size_t)done;
    }
    return 0;
}

int nw_json_save(const struct nw_json *json, const char *path)
{
    struct nw_replace replace;
    int good;

    if (!nw_json_whole(json) || nw_replace_begin(&replace, path) != 0) {
        return -1;
    }
    good = write_all(replace.file, json->text, json->used) == 0 &&
           write_all(replace.file, "\n", 1) == 0;
    return nw_replace_end(&replace, good);
}
