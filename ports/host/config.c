/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "nandwich/error.h"
#include "nandwich/vm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const ecc_names[] = {"none", "secded", NULL};
static const char *const scheme_names[] = {"auto", "multi-cache", "sector-shrink", "direct", NULL};
static const char *const policy_names[] = {"clock", "lru", NULL};

enum kind { NUMBER, SIZE, TEXT, PATH, WORD, LAYER };

struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *const *words; /* WORD: allowed ones, the index is the value */
    uint32_t least, most;     /* NUMBER, SIZE */
};

#define AT(field) offsetof(struct nw_host_config, field)

static const struct key keys[] = {
    {"chip", TEXT, AT(chip), NULL, 0, 0},
    {"ftl", LAYER, AT(layer), NULL, 0, 0},
    {"degree", NUMBER, AT(degree), NULL, 1, 255},
    {"maps", NUMBER, AT(maps), NULL, 0, 255},
    {"ecc", WORD, AT(ecc), ecc_names, 0, 0},
    {"vm", SIZE, AT(vm_bytes), NULL, 1, 0xFFFFFFFFU},
    {"ram", SIZE, AT(ram_bytes), NULL, 1, 0xFFFFFFFFU},
    {"scheme", WORD, AT(scheme), scheme_names, 0, 0},
    {"policy", WORD, AT(policy), policy_names, 0, 0},
    {"blocks", NUMBER, AT(blocks), NULL, 0, 0xFFFFFFFFU},
    {"spare_blocks", NUMBER, AT(spare_blocks), NULL, 0, 65535},
    {"seed", NUMBER, AT(seed), NULL, 0, 0xFFFFFFFFU},
    {"image", PATH, AT(image), NULL, 0, 0},
    {"record", PATH, AT(record), NULL, 0, 0},
    {"accesses", PATH, AT(accesses), NULL, 0, 0},
    {"timeline", PATH, AT(timeline), NULL, 0, 0},
    {"timeline_window", TEXT, AT(timeline_window), NULL, 0, 0},
    {"stats", PATH, AT(stats), NULL, 0, 0},
    {"timing", NUMBER, AT(timing), NULL, 0, 1},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* Where the text being read stands, for messages. */
struct source {
    const char *place;
    unsigned line;
    char *error;
    size_t error_bytes;
};

__attribute__((format(printf, 2, 3)))
static int refuse(const struct source *source, const char *format, ...)
{
    int used = snprintf(source->error, source->error_bytes, "%s:%u: ", source->place, source->line);
    va_list arguments;

    if (used > 0 && (size_t)used < source->error_bytes) {
        va_start(arguments, format);
        vsnprintf(source->error + used, source->error_bytes - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return NW_ERR_CONFIG;
}

void nw_host_config_defaults(struct nw_host_config *config)
{
    memset(config, 0, sizeof *config);
    strcpy(config->chip, "K9F1G08U0A");
    strcpy(config->timeline_window, "requests:0:10000");
    config->layer = &nw_layer_lavish;
    config->degree = 8;
    config->maps = 4;
    config->vm_bytes = 8UL << 20;
    config->ram_bytes = 32UL << 10;
    config->seed = 1;
    config->timing = 1;
}

static int read_number(const struct source *source, const struct key *key, const char *value,
                       uint32_t *to)
{
    char *end;
    unsigned long long number;
    unsigned shift = 0;

    errno = 0;
    number = strtoull(value, &end, 0);
    if (key->kind == SIZE && end != value && *end != '\0') {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
        end += shift != 0;
    }
    if (end == value || *end != '\0' || *value == '-' || errno != 0) {
        return refuse(source, "%s=%s: not a %s", key->name, value,
                      key->kind == SIZE ? "size (write 512, 32K, 8M)" : "number");
    }
    if (number > key->most >> shift || (number << shift) < key->least) {
        return refuse(source, "%s=%s: allowed are %lu to %lu", key->name, value,
                      (unsigned long)key->least, (unsigned long)key->most);
    }
    *to = (uint32_t)(number << shift);
    return NW_OK;
}

static int read_word(const struct source *source, const struct key *key, const char *value,
                     uint32_t *to)
{
    char allowed[128] = "";

    for (uint32_t i = 0; key->words[i] != NULL; i++) {
        if (strcmp(value, key->words[i]) == 0) {
            *to = i;
            return NW_OK;
        }
        strcat(allowed, i > 0 ? ", " : "");
        strcat(allowed, key->words[i]);
    }
    return refuse(source, "%s=%s: unknown; allowed are %s", key->name, value, allowed);
}

static int read_layer(const struct source *source, const char *value,
                      const struct nw_layer_kind **to)
{
    char allowed[128] = "";

    *to = nw_layer_find(value);
    for (uint32_t i = 0; *to == NULL && i < nw_layer_kind_count; i++) {
        strcat(allowed, i > 0 ? ", " : "");
        strcat(allowed, nw_layer_kinds[i]->name);
    }
    return *to != NULL ? NW_OK
                       : refuse(source, "ftl=%s: unknown; allowed are %s", value, allowed);
}

static int read_text(const struct source *source, const struct key *key, const char *value,
                     char *to, size_t bytes)
{
    if (strlen(value) >= bytes) {
        return refuse(source, "%s: longer than %zu bytes", key->name, bytes - 1);
    }
    strcpy(to, value);
    return NW_OK;
}

static int read_part_key(struct nw_host_config *config, const struct source *source,
                         const char *name, const char *value)
{
    char(*entry)[NW_HOST_WORD_BYTES];

    if (config->part_keys == NW_HOST_PART_KEYS) {
        return refuse(source, "part.%s: more than %d part keys", name, NW_HOST_PART_KEYS);
    }
    if (strlen(name) >= NW_HOST_WORD_BYTES || strlen(value) >= NW_HOST_WORD_BYTES) {
        return refuse(source, "part.%s: longer than %d bytes", name, NW_HOST_WORD_BYTES - 1);
    }
    entry = config->part_key[config->part_keys++];
    strcpy(entry[0], name);
    strcpy(entry[1], value);
    return NW_OK;
}

static int read_key(struct nw_host_config *config, const struct source *source, const char *name,
                    const char *value)
{
    char known[256] = "";

    if (strncmp(name, "part.", 5) == 0) {
        return read_part_key(config, source, name + 5, value);
    }
    for (int i = 0; i < KEYS; i++) {
        void *field = (uint8_t *)config + keys[i].offset;

        if (strcmp(name, keys[i].name) != 0) {
            strcat(known, i > 0 ? ", " : "");
            strcat(known, keys[i].name);
            continue;
        }
        switch (keys[i].kind) {
        case WORD: return read_word(source, &keys[i], value, field);
        case LAYER: return read_layer(source, value, field);
        case TEXT: return read_text(source, &keys[i], value, field, NW_HOST_WORD_BYTES);
        case PATH: return read_text(source, &keys[i], value, field, NW_HOST_PATH_BYTES);
        default: return read_number(source, &keys[i], value, field);
        }
    }
    if (strcmp(name, "frame") == 0 || strcmp(name, "slots") == 0 || strcmp(name, "guards") == 0 ||
        strcmp(name, "lookaside") == 0 || strcmp(name, "statics") == 0) {
        return refuse(source, "%s=%s: compiled in; build the program again with --nw-%s=%s", name,
                      value, name, value);
    }
    return refuse(source,
                  "unknown key '%s'; known are %s, part.KEY; compiled in: frame, slots, "
                  "lookaside, guards, statics",
                  name, known);
}

static int read_piece(struct nw_host_config *config, const struct source *source,
                      const char *from, size_t length)
{
    char piece[NW_HOST_PATH_BYTES + NW_HOST_WORD_BYTES], *equals;

    if (length >= sizeof piece) {
        return refuse(source, "longer than %zu bytes", sizeof piece - 1);
    }
    memcpy(piece, from, length);
    piece[length] = '\0';
    equals = strchr(piece, '=');
    if (equals == NULL) {
        return refuse(source, "'%s': write key=value", piece);
    }
    *equals = '\0';
    return read_key(config, source, piece, equals + 1);
}

int nw_host_config_read(struct nw_host_config *config, const char *text, int spaces,
                        const char *place, char *error, size_t error_bytes)
{
    struct source source = {place, 1, error, error_bytes};
    const char *stops = spaces ? " \t\n" : "\n";

    while (*text != '\0') {
        size_t length = strcspn(text, stops);

        if (length > 0 && *text != '#') {
            int result = read_piece(config, &source, text, length);

            if (result < 0) {
                return result;
            }
        }
        text += length;
        source.line += *text == '\n';
        text += *text != '\0';
    }
    return NW_OK;
}

int nw_host_config_file(struct nw_host_config *config, const char *path, char *error,
                        size_t error_bytes)
{
    char text[65536];
    FILE *file = fopen(path, "rb");
    size_t count;

    if (file == NULL) {
        snprintf(error, error_bytes, "%s: cannot be read: %s", path, strerror(errno));
        return NW_ERR_NOT_FOUND;
    }
    count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    if (count == sizeof text - 1) {
        snprintf(error, error_bytes, "%s: longer than %zu bytes", path, sizeof text - 2);
        return NW_ERR_CONFIG;
    }
    text[count] = '\0';
    return nw_host_config_read(config, text, 0, path, error, error_bytes);
}

/* Two names of one file. Devices may be named twice; files that are not there yet are told apart by
 * their names alone. */
static bool is_one_file(const char *a, const char *b)
{
    struct stat one;
    struct stat other;
    bool there = stat(a, &one) == 0;

    if (there != (stat(b, &other) == 0)) {
        return false;
    }
    return there ? S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino
                 : strcmp(a, b) == 0;
}

int nw_host_config_apart(const struct nw_host_config *config, const char *program, char *error,
                         size_t error_bytes)
{
    const char *const names[] = {"program", "image", "record", "accesses", "timeline", "stats"};
    const char *const paths[] = {program, config->image, config->record, config->accesses,
                                 config->timeline, config->stats};

    for (size_t i = 1; i < sizeof paths / sizeof paths[0]; i++) {
        for (size_t j = 0; paths[i][0] != '\0' && j < i; j++) {
            if (paths[j][0] != '\0' && is_one_file(paths[i], paths[j])) {
                snprintf(error, error_bytes, "%s=%s would overwrite the %s: give another name",
                         names[i], paths[i], names[j]);
                return NW_ERR_CONFIG;
            }
        }
    }
    return NW_OK;
}

const char *nw_host_ecc_name(uint32_t ecc)
{
    return ecc_names[ecc];
}

const char *nw_host_scheme_name(uint32_t scheme)
{
    return scheme_names[scheme];
}

const char *nw_host_policy_name(uint32_t policy)
{
    return policy_names[policy];
}
