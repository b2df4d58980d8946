/* SPDX-License-Identifier: Apache-2.0 */
/* What comes before a cut is used, what comes behind it is not looked at. A chunk whose checksum is
 * right but whose content cannot be is an error instead: its writer was wrong. */
#define _POSIX_C_SOURCE 200809L
#include "nandwich-vmtrace/access.h"

#include "access_format.h"

#include "nandwich/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

struct nw_access_reader {
    FILE *file;
    uint64_t base, range_bytes;
    uint64_t at;        /* byte of the file behind the chunk in memory */
    uint64_t begins;    /* byte of the file at which that chunk's content begins */
    uint64_t previous;  /* address the next access is told from */
    uint64_t total;     /* accesses given out so far */
    uint64_t first;     /* byte of the file behind the header */
    uint32_t left;      /* records left in the chunk */
    const uint8_t *next, *end;
    int over;           /* the end or a cut was met */
    struct nw_access_object *objects;
    uint32_t object_count, object_room;
    struct nw_access_fault fault;
    uint8_t chunk[NW_ACCESS_CHUNK_BYTES];
};

__attribute__((format(printf, 3, 4)))
static int say(struct nw_access_reader *reader, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reader->fault.text, sizeof reader->fault.text, format, arguments);
    va_end(arguments);
    reader->over = 1;
    return error;
}

static int number(struct nw_access_reader *reader, uint64_t *value)
{
    *value = 0;
    for (uint32_t shift = 0; reader->next < reader->end && shift < 64; shift += 7) {
        uint8_t byte = *reader->next++;

        *value |= (uint64_t)(byte & 0x7FU) << shift;
        if (byte < 0x80U) {
            return shift < 63 || byte < 2;
        }
    }
    return 0;
}

static int nonsense(struct nw_access_reader *reader, const char *what)
{
    reader->fault.at = reader->begins + (uint64_t)(reader->next - reader->chunk);
    return say(reader, NW_ERR_CORRUPT, "%s", what);
}

static int cut(struct nw_access_reader *reader, const char *what)
{
    reader->fault.at = reader->at;
    (void)say(reader, NW_OK, "%s at byte %" PRIu64 ": used up to there", what, reader->at);
    return 0;
}

/* 1: a chunk is in memory. 0: a cut, of which the fault tells. NW_ERR_IO. */
static int load_chunk(struct nw_access_reader *reader, uint32_t *kind)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    size_t got = fread(head, 1, sizeof head, reader->file);

    if (got < sizeof head) {
        return ferror(reader->file) ? say(reader, NW_ERR_IO, "%s", strerror(errno))
                                    : cut(reader, "the trace is cut");
    }
    uint32_t bytes = (uint32_t)get_le(head + 8, 4);
    if (bytes > sizeof reader->chunk) {
        return cut(reader, "the trace is damaged");
    }
    got = fread(reader->chunk, 1, bytes, reader->file);
    if (got < bytes) {
        return ferror(reader->file) ? say(reader, NW_ERR_IO, "%s", strerror(errno))
                                    : cut(reader, "the trace is cut");
    }
    if (chunk_crc(head, reader->chunk, bytes) != get_le(head + 12, 4)) {
        return cut(reader, "the trace is damaged");
    }
    *kind = (uint32_t)get_le(head, 4);
    reader->left = (uint32_t)get_le(head + 4, 4);
    reader->next = reader->chunk;
    reader->end = reader->chunk + bytes;
    reader->begins = reader->at + sizeof head;
    reader->at = reader->begins + bytes;
    reader->previous = reader->base;
    return 1;
}

static int add_object(struct nw_access_reader *reader, const struct nw_access_object *object)
{
    uint32_t count = reader->object_count;
    uint64_t behind = count == 0 ? reader->base
                                 : reader->objects[count - 1U].address +
                                       reader->objects[count - 1U].bytes;

    if (object->element_bytes == 0 || object->bytes == 0 ||
        object->bytes % object->element_bytes != 0 || object->address < behind ||
        object->address - reader->base > reader->range_bytes ||
        object->bytes > reader->range_bytes - (object->address - reader->base)) {
        return nonsense(reader, "an object lies over another or out of the range, or is no "
                                "number of elements");
    }
    if (reader->object_count == MOST_OBJECTS) {
        return nonsense(reader, "more than a million objects");
    }
    if (reader->object_count == reader->object_room) {
        uint32_t room = reader->object_room * 2U + 16U;
        void *larger = realloc(reader->objects, room * sizeof *reader->objects);

        if (larger == NULL) {
            return say(reader, NW_ERR_RAM, "out of memory");
        }
        reader->objects = larger;
        reader->object_room = room;
    }
    reader->objects[reader->object_count++] = *object;
    return NW_OK;
}

static int read_objects(struct nw_access_reader *reader)
{
    for (; reader->left > 0; reader->left--) {
        struct nw_access_object object;
        uint64_t step, bytes, element, length;

        if (!number(reader, &step) || !number(reader, &bytes) || !number(reader, &element) ||
            !number(reader, &length) || length >= NW_ACCESS_NAME_BYTES || bytes > UINT32_MAX ||
            element > UINT32_MAX || length > (uint64_t)(reader->end - reader->next) ||
            step > reader->range_bytes) {
            return nonsense(reader, "no object begins here");
        }
        object.address = reader->previous + step;
        object.bytes = (uint32_t)bytes;
        object.element_bytes = (uint32_t)element;
        memset(object.name, 0, sizeof object.name);
        memcpy(object.name, reader->next, length);
        reader->next += length;
        int result = add_object(reader, &object);
        if (result < 0) {
            return result;
        }
        reader->previous = object.address;
    }
    return reader->next == reader->end ? NW_OK : nonsense(reader, "more bytes than objects");
}

/* The next chunk of accesses: 1; 0 at the end or at a cut. */
static int next_accesses(struct nw_access_reader *reader, int collect)
{
    while (!reader->over) {
        uint64_t before = reader->at;
        uint32_t kind = 0;
        int result = load_chunk(reader, &kind);

        if (result <= 0) {
            return result;
        }
        if (kind == CHUNK_ACCESSES) {
            return 1;
        }
        if (kind == CHUNK_END) {
            reader->over = 1;
            if (reader->left != 0 || reader->end - reader->next != 8 ||
                (!collect && get_le(reader->next, 8) != reader->total)) {
                return nonsense(reader, "the trace's end tells another number of accesses");
            }
            reader->next = reader->end;
            return 0;
        }
        if (kind != CHUNK_OBJECTS || before != reader->first) {
            reader->fault.at = before;
            return say(reader, NW_ERR_CORRUPT, "a chunk of a kind that has no place here");
        }
        result = collect ? read_objects(reader) : NW_OK;
        reader->first = reader->at;
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

static int one(struct nw_access_reader *reader, struct nw_access *to)
{
    uint64_t tag, bytes;

    if (!number(reader, &tag)) {
        return nonsense(reader, "no access begins here");
    }
    uint32_t size = tag >> 1 & 7U;
    uint64_t folded = tag >> 4;
    uint64_t step = (folded & 1U) != 0 ? ~(folded >> 1) : folded >> 1;

    bytes = (uint64_t)1 << size;
    if (size == LENGTH_FOLLOWS && !number(reader, &bytes)) {
        return nonsense(reader, "an access without its length");
    }
    to->address = reader->previous + step;
    uint64_t offset = to->address - reader->base;
    if ((size > 4 && size != LENGTH_FOLLOWS) || bytes == 0 || bytes > UINT32_MAX ||
        offset >= reader->range_bytes || bytes > reader->range_bytes - offset) {
        return nonsense(reader, "an access out of the range of this trace");
    }
    to->bytes = (uint32_t)bytes;
    to->write = tag & 1U;
    reader->previous = to->address;
    return NW_OK;
}

int nw_access_read(struct nw_access_reader *reader, struct nw_access *to, uint32_t room)
{
    uint32_t count = 0;

    while (count < room) {
        if (reader->left == 0) {
            if (reader->next != reader->end) {
                return nonsense(reader, "more bytes than accesses");
            }
            int result = count > 0 ? 0 : next_accesses(reader, 0);

            if (result <= 0) {
                return result < 0 ? result : (int)count;
            }
            continue;
        }
        int result = one(reader, &to[count]);
        if (result < 0) {
            return result;
        }
        reader->left--;
        reader->total++;
        count++;
    }
    return (int)count;
}

/* To the first chunk behind the objects. */
static int go_to(struct nw_access_reader *reader, uint64_t at)
{
    clearerr(reader->file);
    reader->at = at;
    reader->first = at;
    reader->left = 0;
    reader->next = reader->end = reader->chunk;
    reader->total = 0;
    reader->over = 0;
    memset(&reader->fault, 0, sizeof reader->fault);
    return fseek(reader->file, (long)at, SEEK_SET) == 0 ? NW_OK
                                                        : say(reader, NW_ERR_IO, "%s",
                                                              strerror(errno));
}

int nw_access_rewind(struct nw_access_reader *reader)
{
    return go_to(reader, HEADER_BYTES);
}

static int read_header(struct nw_access_reader *reader)
{
    uint8_t header[HEADER_BYTES];

    if (fread(header, 1, sizeof header, reader->file) < sizeof header ||
        memcmp(header, access_magic, sizeof access_magic) != 0) {
        return say(reader, NW_ERR_CORRUPT,
                   "not an access trace of `nandwich run --record-accesses` or of "
                   "`nandwich cc --trace`");
    }
    if (get_le(header + 8, 4) != NW_ACCESS_VERSION) {
        return say(reader, NW_ERR_CORRUPT, "version %u of the format; this reads version %u",
                   (unsigned)get_le(header + 8, 4), NW_ACCESS_VERSION);
    }
    if (nw_crc32(NW_CRC32_START, header, 28) != get_le(header + 28, 4)) {
        return say(reader, NW_ERR_CORRUPT, "the header is damaged");
    }
    reader->base = get_le(header + 12, 8);
    reader->range_bytes = get_le(header + 20, 8);
    if (reader->range_bytes == 0 || reader->range_bytes > (uint64_t)1 << 59 ||
        reader->base > UINT64_MAX - reader->range_bytes) {
        return say(reader, NW_ERR_CORRUPT, "a range that is no range");
    }
    return NW_OK;
}

int nw_access_open(struct nw_access_reader **reader, const char *path,
                   struct nw_access_fault *fault)
{
    struct nw_access_reader *made = calloc(1, sizeof *made);
    int result = NW_OK;

    memset(fault, 0, sizeof *fault);
    if (made == NULL) {
        return NW_ERR_RAM;
    }
    made->file = nw_file_open(path);
    if (made->file == NULL) {
        result = say(made, NW_ERR_IO, "cannot be read: %s",
                     errno == EINVAL ? "not a regular file" : strerror(errno));
    }
    if (result == NW_OK) {
        result = read_header(made);
    }
    if (result == NW_OK) {
        result = go_to(made, HEADER_BYTES);
    }
    if (result == NW_OK) {
        result = next_accesses(made, 1);
    }
    if (result >= 0) {
        result = nw_access_rewind(made);
    }
    if (result < 0) {
        *fault = made->fault;
        nw_access_close(made);
        return result;
    }
    *reader = made;
    return NW_OK;
}

void nw_access_close(struct nw_access_reader *reader)
{
    if (reader != NULL) {
        if (reader->file != NULL) {
            (void)fclose(reader->file);
        }
        free(reader->objects);
        free(reader);
    }
}

uint64_t nw_access_base(const struct nw_access_reader *reader)
{
    return reader->base;
}

uint64_t nw_access_range_bytes(const struct nw_access_reader *reader)
{
    return reader->range_bytes;
}

uint32_t nw_access_objects(const struct nw_access_reader *reader,
                           const struct nw_access_object **first)
{
    *first = reader->objects;
    return reader->object_count;
}

const struct nw_access_fault *nw_access_fault_of(const struct nw_access_reader *reader)
{
    return &reader->fault;
}
