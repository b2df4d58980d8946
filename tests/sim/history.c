/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich-twin/parts.h"
#include "subject.h"

static const char *const phase_words[] = {"before", "inside", "after", NULL};
static const char *const torn_words[] = {"any",        "old",        "new",    "half",
                                         "mostly-old", "mostly-new", "random", NULL};
static const char *const verb_words[] = {"any", "read", "program", "erase", "is-bad", "mark-bad",
                                         "copy", NULL};
static const char *const how_words[] = {"undone", "done", "ecc", "wrong", NULL};
static const char *const doom_words[] = {"erase", "program", "erase-and-mark", "program-and-mark",
                                         NULL};

const struct sim_verb sim_verbs[SIM_COMMON] = {
    [SIM_PLUG] = {"plug", "power goes, comes back, and the device is mounted", {{0}}, 0},
    [SIM_RESET] = {"reset", "the processor starts anew, the chip keeps power", {{0}}, 0},
    [SIM_MOUNTS] = {"mounts", "so many plugs", {{"count", 100000, NULL}}, 0},
    [SIM_CHECK] = {"check", "everything is read and compared", {{0}}, 0},
    [SIM_CUT] = {"cut",
                 "power will go at a change of the chip, so many later",
                 {{"changes", 1000000, NULL},
                  {"phase", 0, phase_words},
                  {"data", 0, torn_words},
                  {"spare", 0, torn_words}},
                 0},
    [SIM_FAIL] = {"fail",
                  "requests to the chip will fail, so many later",
                  {{"verb", 0, verb_words},
                   {"after", 1000000, NULL},
                   {"how", 0, how_words},
                   {"times", 1000000, NULL}},
                  0},
    [SIM_MEND] = {"mend", "no request fails any more", {{0}}, 0},
    [SIM_DOOM] = {"doom",
                  "a block's next erase or program fails, and all behind it",
                  {{"block", UINT32_MAX, NULL}, {"in", 0, doom_words}},
                  1},
    [SIM_FLIP] = {"flip",
                  "a stored bit flips",
                  {{"page", UINT32_MAX, NULL}, {"bit", UINT32_MAX, NULL}},
                  1},
};

#define SETTING(field, largest) {#field, offsetof(struct sim_head, field), largest}

static const struct sim_setting settings[] = {
    SETTING(seed, UINT32_MAX),    SETTING(spare_blocks, UINT16_MAX),
    SETTING(log_blocks, UINT16_MAX), SETTING(degree, UINT8_MAX),
    SETTING(maps, UINT8_MAX),     SETTING(scrub_bits, UINT8_MAX),
    SETTING(sectors, UINT32_MAX),
    SETTING(ecc, UINT8_MAX),      SETTING(oob, UINT16_MAX),
    SETTING(join, UINT16_MAX),    SETTING(unerased, 1),
    SETTING(wears, 1),            SETTING(factory_bad, 1),
    SETTING(shape, 8),            SETTING(worn, UINT32_MAX),
    SETTING(unstable, 1),         SETTING(beyond, 6),
};

#define SETTINGS (sizeof settings / sizeof settings[0])

const struct sim_setting *sim_setting_at(uint32_t index)
{
    return index < SETTINGS ? &settings[index] : NULL;
}

uint32_t *sim_setting_in(const struct sim_setting *setting, struct sim_head *head)
{
    return (uint32_t *)(void *)((uint8_t *)head + setting->offset);
}

const struct sim_verb *sim_verb_of(const struct sim_kind *kind, uint8_t verb)
{
    return verb < SIM_COMMON ? &sim_verbs[verb] : &kind->verbs[verb - SIM_COMMON];
}

uint32_t sim_verb_args(const struct sim_verb *verb)
{
    uint32_t count = 0;

    while (count < SIM_ARGS && verb->args[count].name != NULL) {
        count++;
    }
    return count;
}

void sim_history_init(struct sim_history *history)
{
    memset(history, 0, sizeof *history);
}

void sim_history_free(struct sim_history *history)
{
    free(history->steps);
    sim_history_init(history);
}

int sim_history_add(struct sim_history *history, const struct sim_step *step)
{
    if (history->count == history->room) {
        uint32_t room = history->room * 2U + 64U;
        struct sim_step *steps = realloc(history->steps, room * sizeof *steps);

        if (steps == NULL) {
            return NW_ERR_RAM;
        }
        history->steps = steps;
        history->room = room;
    }
    history->steps[history->count++] = *step;
    return NW_OK;
}

int sim_history_copy(struct sim_history *to, const struct sim_history *from)
{
    sim_history_init(to);
    to->head = from->head;
    for (uint32_t i = 0; i < from->count; i++) {
        if (sim_history_add(to, &from->steps[i]) < 0) {
            sim_history_free(to);
            return NW_ERR_RAM;
        }
    }
    return NW_OK;
}

/* Printing */

struct text {
    char *bytes;
    size_t used;
    size_t room;
    int failed;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...)
{
    char line[400];
    va_list arguments;

    va_start(arguments, format);
    size_t length = (size_t)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    length = length < sizeof line ? length : sizeof line - 1U;
    if (text->used + length + 1U > text->room) {
        size_t room = text->room * 2U + length + 1000U;
        char *bytes = realloc(text->bytes, room);

        if (bytes == NULL) {
            text->failed = 1;
            return;
        }
        text->bytes = bytes;
        text->room = room;
    }
    memcpy(text->bytes + text->used, line, length + 1U);
    text->used += length;
}

/* What the part's description starts from. */
static void base_part(const char *base, struct nw_part *part)
{
    if (base[0] == '\0' || nw_parts_get(base, part) < 0) {
        nw_part_init(part);
    }
}

static void say_part(struct text *text, const struct sim_head *head)
{
    size_t count;
    const struct nw_field *fields = nw_part_fields(&count);
    struct nw_part base;

    base_part(head->base, &base);
    say(text, "part %s\n", head->base[0] != '\0' ? head->base : "none");
    for (size_t i = 0; i < count; i++) {
        char value[200];
        char usual[200];

        if (nw_field_text(&fields[i], &head->part, value, sizeof value) >= 0 &&
            nw_field_text(&fields[i], &base, usual, sizeof usual) >= 0 &&
            strcmp(value, usual) != 0) {
            say(text, "part.%s %s\n", fields[i].key, value);
        }
    }
}

int sim_step_text(const struct sim_kind *kind, const struct sim_step *step, char *text,
                  size_t bytes)
{
    const struct sim_verb *verb = sim_verb_of(kind, step->verb);
    int used = snprintf(text, bytes, "%s", verb->name);

    for (uint32_t i = 0; i < sim_verb_args(verb) && used >= 0 && (size_t)used < bytes; i++) {
        const char *const *words = verb->args[i].words;

        used += words != NULL ? snprintf(text + used, bytes - (size_t)used, " %s",
                                         words[step->args[i]])
                              : snprintf(text + used, bytes - (size_t)used, " %lu",
                                         (unsigned long)step->args[i]);
    }
    return used;
}

char *sim_history_print(const struct sim_history *history)
{
    struct sim_head head = history->head;
    struct text text = {0};
    char line[200];

    say(&text, "nandwich-torture 1\nsubject %s\n", head.kind->name);
    say_part(&text, &head);
    for (uint32_t i = 0; i < SETTINGS; i++) {
        uint32_t value = *sim_setting_in(&settings[i], &head);

        if (value != 0) {
            say(&text, "%s %lu\n", settings[i].name, (unsigned long)value);
        }
    }
    say(&text, "steps\n");
    for (uint32_t i = 0; i < history->count; i++) {
        (void)sim_step_text(head.kind, &history->steps[i], line, sizeof line);
        say(&text, "%s\n", line);
    }
    if (text.failed != 0) {
        free(text.bytes);
        return NULL;
    }
    return text.bytes;
}

/* Parsing */

struct parser {
    struct sim_history *history;
    char line[300];
    unsigned number;
    int in_steps;
    int has_magic;
    char *why;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct parser *parser, const char *format,
                                                        ...)
{
    char text[200];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)snprintf(parser->why, parser->bytes, "line %u: %s", parser->number, text);
    return NW_ERR_CONFIG;
}

/* The next word of the line, from *at on; NULL: none. */
static char *word(char **at)
{
    char *first = *at + strspn(*at, " \t\r");

    if (*first == '\0') {
        return NULL;
    }
    *at = first + strcspn(first, " \t\r");
    if (**at != '\0') {
        *(*at)++ = '\0';
    }
    return first;
}

static int number_of(struct parser *parser, const char *name, const char *text, uint32_t most,
                     uint32_t *value)
{
    char *end = NULL;
    unsigned long long read = strtoull(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || strlen(text) > 10U) {
        return refuse(parser, "%s is a number, not '%.40s'", name, text);
    }
    if (read > most) {
        return refuse(parser, "%s is %llu, and at most %lu", name, read, (unsigned long)most);
    }
    *value = (uint32_t)read;
    return NW_OK;
}

static int arg_of(struct parser *parser, const struct sim_arg *arg, const char *text,
                  uint32_t *value)
{
    if (arg->words == NULL) {
        return number_of(parser, arg->name, text, arg->most, value);
    }
    for (uint32_t i = 0; arg->words[i] != NULL; i++) {
        if (strcmp(arg->words[i], text) == 0) {
            *value = i;
            return NW_OK;
        }
    }
    return refuse(parser, "%s cannot be '%.40s'", arg->name, text);
}

static int parse_step(struct parser *parser, const char *name, char *rest)
{
    const struct sim_kind *kind = parser->history->head.kind;
    struct sim_step step = {0};
    uint32_t verbs = SIM_COMMON + kind->verb_count;

    while (step.verb < verbs && strcmp(sim_verb_of(kind, step.verb)->name, name) != 0) {
        step.verb++;
    }
    if (step.verb == verbs) {
        return refuse(parser, "a %s has no verb '%.40s'", kind->name, name);
    }
    const struct sim_verb *verb = sim_verb_of(kind, step.verb);
    for (uint32_t i = 0; i < sim_verb_args(verb); i++) {
        char *text = word(&rest);

        if (text == NULL) {
            return refuse(parser, "%s needs its %s", name, verb->args[i].name);
        }
        int result = arg_of(parser, &verb->args[i], text, &step.args[i]);
        if (result < 0) {
            return result;
        }
    }
    if (word(&rest) != NULL) {
        return refuse(parser, "%s takes no more", name);
    }
    return sim_history_add(parser->history, &step);
}

static int parse_part(struct parser *parser, const char *name)
{
    struct sim_head *head = &parser->history->head;

    if (strcmp(name, "none") != 0 && nw_parts_get(name, &head->part) < 0) {
        return refuse(parser, "there is no part '%.40s'", name);
    }
    (void)snprintf(head->base, sizeof head->base, "%s", strcmp(name, "none") != 0 ? name : "");
    base_part(head->base, &head->part);
    return NW_OK;
}

static int parse_field(struct parser *parser, const char *key, char *rest)
{
    char *value = rest + strspn(rest, " \t");
    size_t length = strlen(value);

    while (length > 0 && (value[length - 1U] == ' ' || value[length - 1U] == '\r')) {
        value[--length] = '\0';
    }
    int result = nw_part_set(&parser->history->head.part, key, value);
    if (result == NW_ERR_NOT_FOUND) {
        return refuse(parser, "a part has no %.60s", key);
    }
    return result < 0 ? refuse(parser, "%.60s cannot be '%.60s'", key, value) : NW_OK;
}

static int parse_head(struct parser *parser, const char *name, char *rest)
{
    struct sim_head *head = &parser->history->head;

    if (strncmp(name, "part.", 5) == 0) {
        return parse_field(parser, name + 5, rest);
    }
    char *value = word(&rest);
    if (strcmp(name, "steps") == 0 && value == NULL) {
        parser->in_steps = 1;
        return head->kind == NULL || head->part.blocks == 0
                   ? refuse(parser, "a subject and a part come before the steps")
                   : NW_OK;
    }
    if (value == NULL || word(&rest) != NULL) {
        return refuse(parser, "%.40s takes one value", name);
    }
    if (strcmp(name, "subject") == 0) {
        head->kind = sim_kind_find(value);
        return head->kind != NULL ? NW_OK : refuse(parser, "there is no subject '%.40s'", value);
    }
    if (strcmp(name, "part") == 0) {
        return parse_part(parser, value);
    }
    for (uint32_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].name, name) == 0) {
            return number_of(parser, name, value, settings[i].most,
                             sim_setting_in(&settings[i], head));
        }
    }
    return refuse(parser, "there is no setting '%.40s'", name);
}

static int parse_line(struct parser *parser)
{
    char *rest = parser->line;

    rest[strcspn(rest, "#")] = '\0';
    char *name = word(&rest);
    if (name == NULL) {
        return NW_OK;
    }
    if (parser->has_magic == 0) {
        char *version = word(&rest);

        parser->has_magic = 1;
        return strcmp(name, "nandwich-torture") == 0 && version != NULL &&
                       strcmp(version, "1") == 0 && word(&rest) == NULL
                   ? NW_OK
                   : refuse(parser, "a history begins with 'nandwich-torture 1'");
    }
    return parser->in_steps != 0 ? parse_step(parser, name, rest) : parse_head(parser, name, rest);
}

int sim_history_parse(struct sim_history *history, const char *text, char *why, size_t bytes)
{
    struct parser parser = {.history = history, .why = why, .bytes = bytes};
    int result = NW_OK;

    sim_history_init(history);
    while (*text != '\0' && result == NW_OK) {
        size_t length = strcspn(text, "\n");

        parser.number++;
        if (length >= sizeof parser.line) {
            result = refuse(&parser, "longer than any line of a history");
            break;
        }
        memcpy(parser.line, text, length);
        parser.line[length] = '\0';
        result = parse_line(&parser);
        text += length + (text[length] == '\n' ? 1U : 0U);
    }
    if (result == NW_OK && parser.in_steps == 0) {
        parser.number++;
        result = refuse(&parser, "the steps are missing");
    }
    if (result < 0) {
        sim_history_free(history);
    }
    return result;
}
