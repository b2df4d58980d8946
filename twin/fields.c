/* SPDX-License-Identifier: Apache-2.0 */
/* Text to fields and back: exact decimal arithmetic on 64-bit integers, nothing rounded. */
#include "nandwich-twin/fields.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t scale; /* base units in one of these */
};

struct unit_table {
    const char *form;
    const struct unit *units; /* ascending, closed by a NULL name */
};

static const struct unit bytes_units[] = {
    { "B", 1U }, { "KiB", 1024U }, { "MiB", 1048576U }, { "GiB", 1073741824U }, { NULL, 0U } };
static const struct unit ns_units[] = {
    { "ns", 1U }, { "us", 1000U }, { "ms", 1000000U }, { "s", 1000000000U }, { NULL, 0U } };
static const struct unit ps_units[] = { { "ps", 1U },          { "ns", 1000U },
                                        { "us", 1000000U },    { "ms", 1000000000U },
                                        { "s", 1000000000000U }, { NULL, 0U } };
static const struct unit pj_units[] = { { "pJ", 1U },           { "nJ", 1000U },
                                        { "uJ", 1000000U },     { "mJ", 1000000000U },
                                        { "J", 1000000000000U }, { NULL, 0U } };
static const struct unit nw_units[] = {
    { "nW", 1U }, { "uW", 1000U }, { "mW", 1000000U }, { "W", 1000000000U }, { NULL, 0U } };
static const struct unit na_units[] = {
    { "nA", 1U }, { "uA", 1000U }, { "mA", 1000000U }, { "A", 1000000000U }, { NULL, 0U } };
static const struct unit mv_units[] = { { "mV", 1U }, { "V", 1000U }, { NULL, 0U } };
static const struct unit hz_units[] = {
    { "Hz", 1U }, { "kHz", 1000U }, { "MHz", 1000000U }, { NULL, 0U } };
static const struct unit bps_units[] = { { "bit/s", 1U }, { "kbit/s", 1000U }, { NULL, 0U } };

static const struct unit_table unit_tables[] = {
    [NW_FIELD_COUNT] = { "a whole number like 2048", NULL },
    [NW_FIELD_FLAG] = { "yes or no", NULL },
    [NW_FIELD_TEXT] = { "a short text", NULL },
    [NW_FIELD_BYTES] = { "a size like 2048 B or 16 MiB", bytes_units },
    [NW_FIELD_NS] = { "a time like 25 us", ns_units },
    [NW_FIELD_PS] = { "a time like 25 ns", ps_units },
    [NW_FIELD_PJ] = { "an energy like 13.2 uJ", pj_units },
    [NW_FIELD_NW] = { "a power like 33 uW", nw_units },
    [NW_FIELD_NA] = { "a current like 8 mA", na_units },
    [NW_FIELD_MV] = { "a voltage like 3.3 V", mv_units },
    [NW_FIELD_HZ] = { "a frequency like 72 MHz", hz_units },
    [NW_FIELD_BPS] = { "a bit rate like 38.4 kbit/s", bps_units },
    [NW_FIELD_CURVE] = { "points like 0:100 3000:20000", NULL },
    [NW_FIELD_CHOICE] = { "one of its words", NULL },
};

const char *nw_field_form(const struct nw_field *field)
{
    return unit_tables[field->kind].form;
}

const struct nw_field *nw_field_find(const struct nw_field *fields, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

static bool scan_digits(const char **at, uint64_t *value, uint32_t *digits)
{
    for (*digits = 0; **at >= '0' && **at <= '9'; ++*at, ++*digits) {
        uint64_t digit = (uint64_t)(**at - '0');

        if (*value > (UINT64_MAX - digit) / 10U) {
            return false;
        }
        *value = *value * 10U + digit;
    }
    return true;
}

/* A plain count, decimal or 0x hexadecimal, up to a blank or the end. */
static bool scan_count(const char **at, uint64_t *value)
{
    uint32_t digits = 0;

    *value = 0;
    if (strncmp(*at, "0x", 2) != 0) {
        return scan_digits(at, value, &digits) && digits > 0;
    }
    for (*at += 2; digits < 16U; ++*at, digits++) {
        static const char hex[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = **at != '\0' ? strchr(hex, **at) : NULL;

        if (found == NULL) {
            break;
        }
        *value = *value << 4 | ((uint64_t)(found - hex) & 15U);
    }
    return digits > 0;
}

/* mantissa * scale / 10^fraction_digits, refused unless whole and within 64 bits. */
static bool scale_exactly(uint64_t mantissa, uint32_t fraction_digits, uint64_t scale,
                          uint64_t *value)
{
    for (; fraction_digits > 0; fraction_digits--) {
        if (scale % 10U == 0) {
            scale /= 10U;
        } else if (mantissa % 10U == 0) {
            mantissa /= 10U;
        } else if (scale % 2U == 0 && mantissa % 5U == 0) {
            scale /= 2U;
            mantissa /= 5U;
        } else {
            return false;
        }
    }
    if (scale != 0 && mantissa > UINT64_MAX / scale) {
        return false;
    }
    *value = mantissa * scale;
    return true;
}

static bool scan_quantity(const struct unit *units, const char *text, uint64_t *value)
{
    uint64_t mantissa = 0;
    uint32_t whole;
    uint32_t fraction = 0;

    if (!scan_digits(&text, &mantissa, &whole) || whole == 0) {
        return false;
    }
    if (*text == '.') {
        text++;
        if (!scan_digits(&text, &mantissa, &fraction) || fraction == 0) {
            return false;
        }
    }
    while (*text == ' ') {
        text++;
    }
    for (; units->name != NULL; units++) {
        if (strcmp(text, units->name) == 0) {
            return scale_exactly(mantissa, fraction, units->scale, value);
        }
    }
    return false;
}

static int set_curve(struct nw_curve *curve, const char *text)
{
    struct nw_curve read = { 0 };

    while (*text != '\0') {
        uint64_t cycles;
        uint64_t errors;

        if (read.points == NW_CURVE_POINTS || !scan_count(&text, &cycles) || *text != ':') {
            return NW_ERR_CONFIG;
        }
        text++;
        if (!scan_count(&text, &errors) || (*text != '\0' && *text != ' ')) {
            return NW_ERR_CONFIG;
        }
        if (cycles > UINT32_MAX || errors > NW_CURVE_MOST ||
            (read.points > 0 && cycles <= read.cycles[read.points - 1U])) {
            return NW_ERR_RANGE;
        }
        read.cycles[read.points] = (uint32_t)cycles;
        read.errors[read.points] = errors;
        read.points++;
        while (*text == ' ') {
            text++;
        }
    }
    *curve = read;
    return NW_OK;
}

static int set_text(const struct nw_field *field, char *to, const char *value)
{
    size_t length = strlen(value);

    if (length >= field->size) {
        return NW_ERR_RANGE;
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)value[i] < 0x20U) {
            return NW_ERR_CONFIG;
        }
    }
    memset(to, 0, field->size);
    memcpy(to, value, length);
    return NW_OK;
}

static uint64_t all_ones(uint8_t size)
{
    return size == 8U ? UINT64_MAX : (1ULL << (8U * size)) - 1U;
}

static bool scan_number(const struct nw_field *field, const char *text, uint64_t *value)
{
    if (field->kind == NW_FIELD_FLAG) {
        *value = strcmp(text, "yes") == 0;
        return *value == 1U || strcmp(text, "no") == 0;
    }
    if (field->kind == NW_FIELD_CHOICE) {
        for (*value = 0; field->choices[*value] != NULL; ++*value) {
            if (strcmp(field->choices[*value], text) == 0) {
                return true;
            }
        }
        return false;
    }
    if (field->kind == NW_FIELD_COUNT) {
        if (strcmp(text, "unlimited") == 0) {
            *value = all_ones(field->size);
            return true;
        }
        return scan_count(&text, value) && *text == '\0';
    }
    return scan_quantity(unit_tables[field->kind].units, text, value);
}

int nw_field_set(const struct nw_field *field, void *object, const char *value)
{
    uint8_t *to = (uint8_t *)object + field->offset;
    uint64_t number;

    if (field->kind == NW_FIELD_TEXT) {
        return set_text(field, (char *)to, value);
    }
    if (field->kind == NW_FIELD_CURVE) {
        return set_curve((struct nw_curve *)(void *)to, value);
    }
    if (!scan_number(field, value, &number)) {
        return NW_ERR_CONFIG;
    }
    if (number < field->least || number > field->most || number > all_ones(field->size)) {
        return NW_ERR_RANGE;
    }
    switch (field->size) {
    case 1: memcpy(to, &(uint8_t){ (uint8_t)number }, 1); break;
    case 2: memcpy(to, &(uint16_t){ (uint16_t)number }, 2); break;
    case 4: memcpy(to, &(uint32_t){ (uint32_t)number }, 4); break;
    default: memcpy(to, &number, 8); break;
    }
    return NW_OK;
}

uint64_t nw_field_number(const struct nw_field *field, const void *object)
{
    const uint8_t *from = (const uint8_t *)object + field->offset;
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    if (field->kind == NW_FIELD_TEXT || field->kind == NW_FIELD_CURVE) {
        return 0;
    }
    switch (field->size) {
    case 1: return *from;
    case 2: memcpy(&two, from, 2); return two;
    case 4: memcpy(&four, from, 4); return four;
    default: memcpy(&eight, from, 8); return eight;
    }
}

static int curve_text(const struct nw_curve *curve, char *text, size_t bytes)
{
    size_t used = 0;

    if (bytes > 0) {
        text[0] = '\0';
    }
    for (uint32_t i = 0; i < curve->points; i++) {
        int wrote = snprintf(text + used, bytes - used, "%s%" PRIu32 ":%" PRIu64,
                             i > 0 ? " " : "", curve->cycles[i], curve->errors[i]);

        if (wrote < 0 || (size_t)wrote >= bytes - used) {
            return NW_ERR_RAM;
        }
        used += (size_t)wrote;
    }
    return (int)used;
}

/* In the largest unit that leaves at most three decimals, which is always exact: units step by 1000
 * (bytes by 1024, and these are only shown whole). */
static int quantity_text(const struct unit *units, bool decimal, uint64_t value, char *text,
                         size_t bytes)
{
    const struct unit *best = units;

    for (const struct unit *unit = units; unit->name != NULL && unit->scale <= value; unit++) {
        if (decimal || value % unit->scale == 0) {
            if (!decimal || value % (unit->scale >= 1000U ? unit->scale / 1000U : 1U) == 0) {
                best = unit;
            }
        }
    }
    if (value % best->scale == 0) {
        return snprintf(text, bytes, "%" PRIu64 " %s", value / best->scale, best->name);
    }
    uint64_t thousandths = value % best->scale / (best->scale / 1000U);
    int width = 3;

    for (; thousandths % 10U == 0; thousandths /= 10U) {
        width--;
    }
    return snprintf(text, bytes, "%" PRIu64 ".%0*" PRIu64 " %s", value / best->scale, width,
                    thousandths, best->name);
}

int nw_field_text(const struct nw_field *field, const void *object, char *text, size_t bytes)
{
    const uint8_t *from = (const uint8_t *)object + field->offset;
    uint64_t number = nw_field_number(field, object);
    int wrote;

    switch (field->kind) {
    case NW_FIELD_TEXT: wrote = snprintf(text, bytes, "%s", (const char *)from); break;
    case NW_FIELD_CURVE:
        return curve_text((const struct nw_curve *)(const void *)from, text, bytes);
    case NW_FIELD_FLAG: wrote = snprintf(text, bytes, "%s", number != 0 ? "yes" : "no"); break;
    case NW_FIELD_CHOICE: wrote = snprintf(text, bytes, "%s", field->choices[number]); break;
    case NW_FIELD_COUNT: wrote = snprintf(text, bytes, "%" PRIu64, number); break;
    default:
        wrote = quantity_text(unit_tables[field->kind].units, field->kind != NW_FIELD_BYTES, number,
                              text, bytes);
        break;
    }
    return wrote < 0 || (size_t)wrote >= bytes ? NW_ERR_RAM : wrote;
}
