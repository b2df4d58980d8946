/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm.c - a small language model in integers: the same tokens on every processor.
 *
 *     llm WEIGHTS PROMPT TOKENS SEED     print PROMPT and TOKENS more tokens
 *     llm WEIGHTS --score < TEXT         print what TEXT costs: bits and characters
 *
 * Plain C: the file of weights is mapped, not read, and nothing here knows whether the memory
 * behind it is RAM or flash. examples/llm/make.py makes a file; docs/llm.md tells of it.
 *
 * Numbers. Weights are bytes, with a scale for each matrix; those of tables are half a byte, 16
 * levels a table. The stream between layers counts in 2^-16, its normed copy in 2^-10.
 * Scores and logits count in 2^-8 and are exponents of two, so that a softmax takes a table of 256
 * powers. Sums fit 32 bits within the limits below; a sum times a scale takes 64.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
    MAGIC = 0x4d4c574e, /* "NWLM" */
    ALIGNMENT = 512,    /* of each part of the file, from its start */
    PAGE = 4096,        /* of mmap(), or a part of one */
    VOCABULARY_MAX = 4096,
    ROWS_MAX = 1 << 20,
    LAYERS_MAX = 16,
    WIDTH_MAX = 256, /* of the stream, and of all heads together */
    HEAD_MAX = 64,
    HIDDEN_MAX = 1024,
    CONTEXT_MAX = 256,
    TOKEN_BYTES = 16,
    TEXT_MAX = 1 << 20, /* bytes to score, and one */
    LEVELS = 16,
    BEGIN = 0, /* the token before the first of a text; never printed */
    EPSILON = 42950, /* 1e-5 in 2^-32, added to a mean square */
    UNIT_BITS = 8,   /* fraction of scores and logits */
    POWER_BITS = 20, /* fraction of a power of two */
    SHARE_BITS = 14, /* fraction of a key's weight before all are divided by their sum */
    RELU_MAX = 2895, /* 2895 * 2895 >> 9 is below 1 << 14 */
    SQUARE_SHIFT = 9
};

struct header { /* all little-endian, 32 bits each */
    uint32_t magic, version, bytes;
    int32_t vocabulary, width, layers, heads, head, hidden, context, rows; /* rows 0: no tables */
};

struct scale { /* a sum times `factor` >> `shift` is what it stands for */
    int32_t factor, shift;
};

struct matrix {
    uint32_t weights; /* where in the file; those of an output stand together */
    int inputs;
    struct scale scale;
};

struct layer {
    struct matrix query, key, value, out, up, down;
    int32_t score_shift;
    uint32_t table;         /* where in the file: rows of width / 2 bytes, even places low */
    int32_t levels[LEVELS]; /* of its weights, in 2^-16 */
};

#ifndef TILED /* tiled.c has another way to the file */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const uint8_t *bytes;
    uint32_t size;
};

/* Returns NULL, or what went wrong. */
static const char *open_file(struct file *file, const char *name)
{
    struct stat status;
    int number = open(name, O_RDONLY);

    if (number < 0 || fstat(number, &status) != 0) {
        return "cannot be opened";
    }
    if (status.st_size <= 0 || status.st_size > INT32_MAX) {
        return "empty, or larger than 2 GB";
    }
    file->size = (uint32_t)status.st_size;
    file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, number, 0);
    close(number);
    return file->bytes == MAP_FAILED ? "cannot be mapped" : NULL;
}

/* Some bytes of the file; they stay until the next call. */
static const void *part(struct file *file, uint32_t offset, uint32_t bytes)
{
    (void)bytes;
    return file->bytes + offset;
}

/* From `offset` on to the end some bytes are copied here and some there. */
static void expect_copies(struct file *file, uint32_t offset)
{
    offset -= offset % PAGE;
    (void)posix_madvise((void *)(file->bytes + offset), file->size - offset, POSIX_MADV_RANDOM);
}
#endif

struct model {
    const char *name;
    struct file file;
    struct header shape;
    uint32_t text; /* where in the file: TOKEN_BYTES for each token */
    uint32_t text_bytes;
    struct matrix embedding;
    struct scale token; /* makes the embedding of a token count in 2^-16 */
    struct layer layers[LAYERS_MAX];
    uint32_t powers[1 << UNIT_BITS]; /* 2^(-i / 256) in 2^-20 */
    int8_t *cache;    /* a key and a value for each layer and place of the context */
    int32_t *logits;  /* one a token */
    uint32_t last[3]; /* the last tokens, the newest first */
    int position;     /* tokens taken so far */
};

static void fail(const char *name, const char *what)
{
    fprintf(stderr, "llm: %s: %s\n", name, what);
    exit(2);
}

/* ---- the file ---- */

/* Where the part at `*at` begins; `*at` goes on to the next one. */
static uint32_t take(const struct model *model, uint32_t *at, uint32_t bytes)
{
    uint32_t begin = *at;

    if (bytes > model->file.size || begin > model->file.size - bytes) {
        fail(model->name, "damaged: the file ends too early");
    }
    *at = (begin + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return begin;
}

/* Copies what stands at `*at` in a part, and goes on. */
static void copy(struct model *model, uint32_t *at, void *to, uint32_t bytes)
{
    memcpy(to, part(&model->file, *at, bytes), bytes);
    *at += bytes;
}

static void copy_scale(struct model *model, uint32_t *at, struct scale *scale)
{
    copy(model, at, scale, sizeof(*scale));
    if (scale->factor < 0 || scale->factor > UINT16_MAX || scale->shift < 1 || scale->shift > 46) {
        fail(model->name, "damaged: a scale out of range");
    }
}

static void take_matrix(struct model *model, struct matrix *matrix, uint32_t *at, int inputs,
                        int outputs)
{
    matrix->inputs = inputs;
    matrix->weights = take(model, at, (uint32_t)inputs * (uint32_t)outputs);
}

static void take_layer(struct model *model, struct layer *layer, uint32_t *at, uint32_t *numbers)
{
    const struct header *shape = &model->shape;
    int all_heads = shape->heads * shape->head;
    struct matrix *const all[] = {&layer->query, &layer->key, &layer->value,
                                  &layer->out,   &layer->up,  &layer->down};

    take_matrix(model, &layer->query, at, shape->width, all_heads);
    take_matrix(model, &layer->key, at, shape->width, shape->head);
    take_matrix(model, &layer->value, at, shape->width, shape->head);
    take_matrix(model, &layer->out, at, all_heads, shape->width);
    take_matrix(model, &layer->up, at, shape->width, shape->hidden);
    take_matrix(model, &layer->down, at, shape->hidden, shape->width);
    for (int i = 0; i < 6; i++) {
        copy_scale(model, numbers, &all[i]->scale);
    }
    copy(model, numbers, &layer->score_shift, sizeof(layer->score_shift));
    if (layer->score_shift < 0 || layer->score_shift > 30) {
        fail(model->name, "damaged: a shift out of range");
    }
    if (shape->rows > 0) {
        copy(model, numbers, layer->levels, sizeof(layer->levels));
    }
}

static size_t text_bytes(struct model *model, int token)
{
    return *(const uint8_t *)part(&model->file, model->text_bytes + (uint32_t)token, 1);
}

static void check_texts(struct model *model)
{
    for (int i = 0; i < model->shape.vocabulary; i++) {
        size_t bytes = text_bytes(model, i);
        if (bytes == 0 || bytes > TOKEN_BYTES) {
            fprintf(stderr, "llm: %s: damaged: a token of %u bytes\n", model->name,
                    (unsigned)bytes);
            exit(2);
        }
    }
}

/* The parts of the file, in their order; returns where they end. */
static uint32_t take_all(struct model *model)
{
    const struct header *shape = &model->shape;
    uint32_t at = ALIGNMENT, vocabulary = (uint32_t)shape->vocabulary;
    uint32_t levels = shape->rows > 0 ? LEVELS : 0;

    model->text = take(model, &at, vocabulary * TOKEN_BYTES);
    model->text_bytes = take(model, &at, vocabulary);
    uint32_t powers = take(model, &at, sizeof(model->powers));
    copy(model, &powers, model->powers, sizeof(model->powers));
    uint32_t numbers = take(model, &at, 4 * (4 + (13 + levels) * (uint32_t)shape->layers));
    copy_scale(model, &numbers, &model->token);
    copy_scale(model, &numbers, &model->embedding.scale);
    take_matrix(model, &model->embedding, &at, shape->width, shape->vocabulary);
    for (int i = 0; i < shape->layers; i++) {
        take_layer(model, &model->layers[i], &at, &numbers);
    }
    for (int i = 0; i < shape->layers && shape->rows > 0; i++) {
        model->layers[i].table = take(model, &at, (uint32_t)(shape->rows * shape->width / 2));
    }
    return at;
}

static int in_limits(const struct header *shape)
{
    return shape->vocabulary > 0 && shape->vocabulary <= VOCABULARY_MAX && shape->width > 0 &&
           shape->width <= WIDTH_MAX && shape->width % 2 == 0 && shape->layers > 0 &&
           shape->layers <= LAYERS_MAX && shape->head > 0 && shape->head <= HEAD_MAX &&
           shape->heads > 0 && shape->heads <= WIDTH_MAX / shape->head && shape->hidden > 0 &&
           shape->hidden <= HIDDEN_MAX && shape->context > 0 && shape->context <= CONTEXT_MAX &&
           shape->rows >= 0 && shape->rows <= ROWS_MAX && (shape->rows & (shape->rows - 1)) == 0;
}

static void open_model(struct model *model, const char *name)
{
    const struct header *shape = &model->shape;
    const char *wrong = open_file(&model->file, name);

    if (wrong != NULL) {
        fail(name, wrong);
    }
    model->name = name;
    if (model->file.size < ALIGNMENT) {
        fail(name, "too short for a file of weights");
    }
    memcpy(&model->shape, part(&model->file, 0, sizeof(model->shape)), sizeof(model->shape));
    if (shape->magic != MAGIC) {
        fail(name, "not a file of weights");
    }
    if (shape->version != VERSION) {
        fprintf(stderr, "llm: %s: weights of version %lu, this program reads version %d\n", name,
                (unsigned long)shape->version, VERSION);
        exit(2);
    }
    if (!in_limits(shape)) {
        fail(name, "damaged, or of a shape beyond the limits at the top of llm.c");
    }
    if (shape->bytes != model->file.size) {
        fprintf(stderr, "llm: %s: damaged: %lu bytes, of %lu by its header\n", name,
                (unsigned long)model->file.size, (unsigned long)shape->bytes);
        exit(2);
    }
    if (take_all(model) != shape->bytes) {
        fail(name, "damaged: its sizes do not agree");
    }
    if (shape->rows > 0) {
        expect_copies(&model->file, model->layers[0].table);
    }
    check_texts(model);
    model->cache = malloc((size_t)(shape->layers * shape->context * 2 * shape->head));
    model->logits = malloc((size_t)shape->vocabulary * sizeof(int32_t));
    if (model->cache == NULL || model->logits == NULL) {
        fail(name, "no memory for its cache");
    }
}

/* ---- arithmetic; >> of a negative number rounds down, as all our compilers have it ---- */

static int32_t clamp(int32_t value, int32_t limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

static int32_t dot(const int8_t *weights, const int16_t *inputs, int count)
{
    int32_t sum = 0;
    int i = 0;

    for (; i <= count - 4; i += 4) {
        sum += weights[i] * inputs[i] + weights[i + 1] * inputs[i + 1] +
               weights[i + 2] * inputs[i + 2] + weights[i + 3] * inputs[i + 3];
    }
    for (; i < count; i++) {
        sum += weights[i] * inputs[i];
    }
    return sum;
}

static int32_t scaled(int32_t sum, struct scale by)
{
    return (int32_t)(((int64_t)sum * by.factor + ((int64_t)1 << (by.shift - 1))) >> by.shift);
}

static const int8_t *row_of(struct model *model, const struct matrix *matrix, int row)
{
    uint32_t bytes = (uint32_t)matrix->inputs;

    return part(&model->file, matrix->weights + (uint32_t)row * bytes, bytes);
}

static int32_t output(struct model *model, const struct matrix *matrix, int row,
                      const int16_t *inputs)
{
    return scaled(dot(row_of(model, matrix, row), inputs, matrix->inputs), matrix->scale);
}

static uint64_t square_root(uint64_t value)
{
    uint64_t root = 0;

    for (uint64_t bit = (uint64_t)1 << 62; bit > 0; bit >>= 2) {
        if (value >= root + bit) {
            value -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

/* The stream divided by the root of its mean square. */
static void norm(const int32_t *stream, int16_t *normed, int width)
{
    uint64_t sum = 0;

    for (int i = 0; i < width; i++) {
        sum += (uint64_t)((int64_t)stream[i] * stream[i]);
    }
    int64_t inverse = (int64_t)(((uint64_t)1 << 40) / square_root(sum / (uint64_t)width + EPSILON));
    for (int i = 0; i < width; i++) {
        normed[i] = (int16_t)((stream[i] * inverse + (1 << 29)) >> 30);
    }
}

/* 2 to the power of -below, in 2^-POWER_BITS. */
static uint32_t power(const uint32_t *powers, int32_t below)
{
    int32_t whole = below >> UNIT_BITS;

    return whole > POWER_BITS ? 0 : powers[below & ((1 << UNIT_BITS) - 1)] >> whole;
}

/* ---- one token through all layers ---- */

/* Adds the row that the last two tokens choose, or in a layer of odd number the last three. */
static void add_row(struct model *model, int number, int32_t *stream)
{
    const struct layer *layer = &model->layers[number];
    uint32_t mixed = (model->last[0] + 1) * 0x9e3779b1U ^ (model->last[1] + 1) * 0x85ebca77U;

    if (number % 2 != 0) {
        mixed ^= (model->last[2] + 1) * 0xc2b2ae3dU;
    }
    mixed = (mixed ^ mixed >> 15) * (0x27d4eb2fU + 2 * (uint32_t)number);
    uint32_t row = mixed >> 8 & (uint32_t)(model->shape.rows - 1);
    uint32_t bytes = (uint32_t)model->shape.width / 2;
    uint8_t pairs[WIDTH_MAX / 2];
    memcpy(pairs, part(&model->file, layer->table + row * bytes, bytes), bytes);
    for (uint32_t i = 0; i < bytes; i++) {
        stream[2 * i] += layer->levels[pairs[i] & 15];
        stream[2 * i + 1] += layer->levels[pairs[i] >> 4];
    }
}

static int8_t *cached(const struct model *model, int number, int position)
{
    const struct header *shape = &model->shape;
    int place = number * shape->context + position % shape->context;

    return model->cache + place * 2 * shape->head;
}

/* One head: its query against all keys of the context, then their values mixed. */
static void attend(const struct model *model, int number, int head, const int16_t *query,
                   int16_t *mixed)
{
    const struct header *shape = &model->shape;
    int first = model->position < shape->context ? 0 : model->position - shape->context + 1;
    int slope = 8 * (head + 1) / shape->heads; /* the bias falls by 2^-slope a token */
    int32_t scores[CONTEXT_MAX], sums[HEAD_MAX] = {0}, best = INT32_MIN;
    uint32_t total = 0;

    for (int at = first; at <= model->position; at++) {
        int32_t score = dot(cached(model, number, at), query, shape->head);
        score >>= model->layers[number].score_shift;
        score -= (model->position - at) << UNIT_BITS >> slope;
        scores[at - first] = score;
        best = score > best ? score : best;
    }
    for (int at = first; at <= model->position; at++) {
        uint32_t share = power(model->powers, best - scores[at - first]);
        const int8_t *value = cached(model, number, at) + shape->head;
        share >>= POWER_BITS - SHARE_BITS;
        total += share;
        for (int i = 0; i < shape->head && share > 0; i++) {
            sums[i] += (int32_t)share * value[i];
        }
    }
    int64_t inverse = ((uint32_t)1 << 31) / total;
    for (int i = 0; i < shape->head; i++) {
        mixed[i] = (int16_t)(sums[i] * inverse >> 24); /* a value in 2^-7 */
    }
}

static void attention(struct model *model, int number, int32_t *stream)
{
    const struct header *shape = &model->shape;
    const struct layer *layer = &model->layers[number];
    int16_t normed[WIDTH_MAX], query[HEAD_MAX], mixed[WIDTH_MAX];
    int8_t *own = cached(model, number, model->position);

    norm(stream, normed, shape->width);
    for (int i = 0; i < shape->head; i++) {
        own[i] = (int8_t)clamp(output(model, &layer->key, i, normed), INT8_MAX);
    }
    for (int i = 0; i < shape->head; i++) {
        own[shape->head + i] = (int8_t)clamp(output(model, &layer->value, i, normed), INT8_MAX);
    }
    for (int head = 0; head < shape->heads; head++) {
        int from = head * shape->head;
        for (int i = 0; i < shape->head; i++) {
            query[i] = (int16_t)clamp(output(model, &layer->query, from + i, normed), INT16_MAX);
        }
        attend(model, number, head, query, mixed + from);
    }
    for (int i = 0; i < shape->width; i++) {
        stream[i] += output(model, &layer->out, i, mixed);
    }
}

static void feed_forward(struct model *model, int number, int32_t *stream)
{
    const struct layer *layer = &model->layers[number];
    int16_t normed[WIDTH_MAX], hidden[HIDDEN_MAX];

    norm(stream, normed, model->shape.width);
    for (int i = 0; i < model->shape.hidden; i++) {
        int32_t value = output(model, &layer->up, i, normed);
        value = value < 0 ? 0 : clamp(value, RELU_MAX);
        hidden[i] = (int16_t)(value * value >> SQUARE_SHIFT);
    }
    for (int i = 0; i < model->shape.width; i++) {
        stream[i] += output(model, &layer->down, i, hidden);
    }
}

/* Takes one token; the logits are of the next one then. */
static void forward(struct model *model, int token)
{
    const struct header *shape = &model->shape;
    int32_t stream[WIDTH_MAX];
    int16_t normed[WIDTH_MAX];

    model->last[2] = model->last[1];
    model->last[1] = model->last[0];
    model->last[0] = (uint32_t)token;
    const int8_t *own = row_of(model, &model->embedding, token);
    for (int i = 0; i < shape->width; i++) {
        stream[i] = scaled(own[i], model->token);
    }
    for (int number = 0; number < shape->layers; number++) {
        if (shape->rows > 0) {
            add_row(model, number, stream);
        }
        attention(model, number, stream);
        feed_forward(model, number, stream);
    }
    norm(stream, normed, shape->width);
    for (int i = 0; i < shape->vocabulary; i++) {
        model->logits[i] = output(model, &model->embedding, i, normed);
    }
    model->position++;
}

/* ---- text and chance ---- */

static const char *text_of(struct model *model, int token)
{
    return part(&model->file, model->text + (uint32_t)token * TOKEN_BYTES, TOKEN_BYTES);
}

/* The longest token that `text` begins with. */
static int first_token(struct model *model, const char *text, size_t bytes)
{
    int best = BEGIN;
    size_t best_bytes = 0;

    for (int i = 0; i < model->shape.vocabulary; i++) {
        size_t length = text_bytes(model, i);
        if (length > best_bytes && length <= bytes &&
            memcmp(text_of(model, i), text, length) == 0) {
            best = i;
            best_bytes = length;
        }
    }
    if (best_bytes == 0) {
        fail(model->name, "damaged: no token for a byte of the text");
    }
    return best;
}

static int32_t best_logit(const struct model *model)
{
    int32_t best = INT32_MIN;

    for (int i = 0; i < model->shape.vocabulary; i++) {
        best = model->logits[i] > best ? model->logits[i] : best;
    }
    return best;
}

/* A token's chance against that of the best one, never 0. */
static uint32_t chance(const struct model *model, int32_t below)
{
    uint32_t value = power(model->powers, below);

    return value > 0 ? value : 1;
}

/* xorshift32: the seed is never 0. */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* A token by its chance, logits 3/2 as far apart as they are (a temperature of 2/3). */
static int sample(const struct model *model, uint32_t *random)
{
    int32_t best = best_logit(model);
    uint32_t total = 0;

    for (int i = BEGIN + 1; i < model->shape.vocabulary; i++) {
        total += power(model->powers, (best - model->logits[i]) * 3 >> 1);
    }
    uint32_t rest = (uint32_t)((uint64_t)next_random(random) * total >> 32);
    for (int i = BEGIN + 1; i < model->shape.vocabulary; i++) {
        uint32_t own = power(model->powers, (best - model->logits[i]) * 3 >> 1);
        if (rest < own) {
            return i;
        }
        rest -= own;
    }
    return model->shape.vocabulary - 1; /* BEGIN alone had a chance */
}

static void generate(struct model *model, const char *prompt, long tokens, uint32_t seed)
{
    size_t left = strlen(prompt);
    uint32_t random = (seed * 2 + 1) * 0x9e3779b1U; /* a small state would draw small numbers */

    forward(model, BEGIN);
    fputs(prompt, stdout);
    fflush(stdout);
    while (left > 0) {
        int token = first_token(model, prompt, left);
        forward(model, token);
        prompt += text_bytes(model, token);
        left -= text_bytes(model, token);
    }
    while (tokens-- > 0) {
        int token = sample(model, &random);
        size_t length = text_bytes(model, token);
        fwrite(text_of(model, token), 1, length, stdout);
        fflush(stdout);
        if (tokens > 0) {
            forward(model, token);
        }
    }
    putchar('\n');
}

/* The logarithm of a value > 0 to base 2, in 2^-16. */
static uint64_t log2_of(uint32_t value)
{
    uint64_t whole = 31, rest = value, found;

    while (rest < (uint64_t)1 << 31) {
        rest <<= 1;
        whole--;
    }
    found = whole;
    for (int i = 0; i < 16; i++) {
        rest = rest * rest >> 31;
        found <<= 1;
        if (rest >= (uint64_t)1 << 32) {
            rest >>= 1;
            found |= 1;
        }
    }
    return found;
}

/* What `token` costs, in 2^-16 of a bit, by the logits before it. */
static uint64_t cost(const struct model *model, int token)
{
    int32_t best = best_logit(model);
    uint32_t total = 0;

    for (int i = 0; i < model->shape.vocabulary; i++) {
        total += chance(model, best - model->logits[i]);
    }
    return log2_of(total) - log2_of(chance(model, best - model->logits[token]));
}

static void score(struct model *model)
{
    char *text = malloc(TEXT_MAX);
    size_t bytes = text == NULL ? 0 : fread(text, 1, TEXT_MAX, stdin), characters = 0;
    uint64_t bits = 0;

    if (bytes == 0 || bytes == TEXT_MAX) {
        fail("stdin", "no text, or more than a megabyte");
    }
    forward(model, BEGIN);
    for (size_t at = 0; at < bytes;) {
        int token = first_token(model, text + at, bytes - at);
        bits += cost(model, token);
        forward(model, token);
        at += text_bytes(model, token);
    }
    for (size_t at = 0; at < bytes; at++) {
        characters += (text[at] & 0xc0) != 0x80; /* not the inside of a character of UTF-8 */
    }
    printf("%lu bits %lu characters\n", (unsigned long)(bits >> 16), (unsigned long)characters);
    free(text);
}

static long number(const char *text, long limit)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < 0 || value > limit) {
        fprintf(stderr, "llm: %s: not a number from 0 to %ld\n", text, limit);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    static struct model model;

    if (argc == 3 && strcmp(argv[2], "--score") == 0) {
        open_model(&model, argv[1]);
        score(&model);
    } else if (argc == 5) {
        long tokens = number(argv[3], 1000000000), seed = number(argv[4], 1000000000);
        open_model(&model, argv[1]);
        generate(&model, argv[2], tokens, (uint32_t)seed);
    } else {
        fputs("usage: llm WEIGHTS PROMPT TOKENS SEED\n       llm WEIGHTS --score < TEXT\n", stderr);
        return 2;
    }
    return 0;
}
