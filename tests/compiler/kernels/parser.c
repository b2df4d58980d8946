/* SPDX-License-Identifier: Apache-2.0 */
/* A state machine over a text of settings: a byte, a branch on the state, what is kept of it. */
#include <stdint.h>
#include <stdio.h>

#define BYTES 24000
static char text[BYTES + 1];
static struct {
    enum { START, COMMENT, NAME, BEFORE_VALUE, NUMBER, QUOTED, ESCAPED, AFTER } state;
    char name[16];
    unsigned name_bytes, value, lines, wrong;
} parser;
static unsigned settings[64], kinds[8];

static unsigned slot_of_name(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < parser.name_bytes; i++) {
        sum = sum * 7 + (unsigned char)parser.name[i];
    }
    return sum % 64;
}

static void begin(char c)
{
    if (c == '#') {
        parser.state = COMMENT;
    } else if (c >= 'a' && c <= 'z') {
        parser.name[0] = c;
        parser.name_bytes = 1;
        parser.state = NAME;
    } else if (c != ' ' && c != '\n') {
        parser.wrong++;
        parser.state = COMMENT;
    }
}

static void name(char c)
{
    if (c >= 'a' && c <= 'z' && parser.name_bytes < sizeof parser.name) {
        parser.name[parser.name_bytes++] = c;
    } else if (c == '=') {
        parser.value = 0;
        parser.state = BEFORE_VALUE;
    } else if (c != ' ') {
        parser.wrong++;
        parser.state = COMMENT;
    }
}

static void value(char c)
{
    if (c >= '0' && c <= '9') {
        parser.value = parser.value * 10 + (unsigned)(c - '0');
        parser.state = NUMBER;
    } else if (c == '"' && parser.state == BEFORE_VALUE) {
        parser.state = QUOTED;
    } else if (c != ' ' || parser.state == NUMBER) {
        parser.state = AFTER;
    }
}

static void quoted(char c)
{
    if (parser.state == ESCAPED) {
        parser.value += 1;
        parser.state = QUOTED;
    } else if (c == '\\') {
        parser.state = ESCAPED;
    } else if (c == '"') {
        parser.state = AFTER;
    } else {
        parser.value = parser.value * 5 + (unsigned char)c;
    }
}

static void end_of_line(void)
{
    if (parser.state >= NUMBER) {
        settings[slot_of_name()] += parser.value;
    }
    parser.lines++;
    parser.state = START;
}

static void take(char c)
{
    kinds[parser.state]++;
    if (c == '\n') {
        end_of_line();
        return;
    }
    switch (parser.state) {
    case START:
        begin(c);
        break;
    case NAME:
        name(c);
        break;
    case BEFORE_VALUE:
    case NUMBER:
        value(c);
        break;
    case QUOTED:
    case ESCAPED:
        quoted(c);
        break;
    default:
        break;
    }
}

static void write_text(void)
{
    static const char *const pieces[] = {
        "speed = 9600\n",
        "# nothing here\n",
        "port= 17 # the usual\n",
        "title = \"one \\\"two\\\"\"\n",
        "\n",
        "  retry = 3\n",
        "delay =250\n",
        "bad line\n",
        "mode=\"fast\"\n",
        "7 = wrong as well\n",
    };
    uint32_t x = 5, at = 0;

    while (at < BYTES) {
        x = x * 1664525U + 1013904223U;
        for (const char *from = pieces[(x >> 16) % 10]; *from != '\0' && at < BYTES; from++) {
            text[at++] = *from;
        }
    }
}

int main(void)
{
    unsigned sum = 0;

    write_text();
    for (int round = 0; round < 3; round++) {
        for (const char *from = text; *from != '\0'; from++) {
            take(*from);
        }
        take('\n');
    }
    for (int i = 0; i < 64; i++) {
        sum = sum * 31 + settings[i];
    }
    for (int i = 0; i < 8; i++) {
        sum = sum * 31 + kinds[i];
    }
    printf("%u lines, %u wrong, %08x\n", parser.lines, parser.wrong, sum);
    return 0;
}
