/* SPDX-License-Identifier: Apache-2.0 */
/* Queries over a database that lies mapped in memory: sqlite_map DATABASE QUERY...
 *
 * For systems SQLite has no port to (-DSQLITE_OS_OTHER=1): it takes mmap() alone. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sqlite3.h"

static int no_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs, (void)name, (void)flags, (void)out;
    file->pMethods = NULL;
    return SQLITE_CANTOPEN;
}

static int none(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs, (void)name, (void)flags;
    *out = 0;
    return SQLITE_OK;
}

static int same_name(sqlite3_vfs *vfs, const char *name, int bytes, char *out)
{
    (void)vfs;
    return sqlite3_snprintf(bytes, out, "%s", name) != NULL ? SQLITE_OK : SQLITE_ERROR;
}

static int chance(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    memset(out, 7, (size_t)bytes);
    return bytes;
}

int sqlite3_os_init(void);
int sqlite3_os_init(void)
{
    static sqlite3_vfs vfs = {.iVersion = 1, .szOsFile = sizeof(sqlite3_file), .mxPathname = 64,
                              .zName = "none", .xOpen = no_file, .xAccess = none,
                              .xFullPathname = same_name, .xRandomness = chance};

    return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void);
int sqlite3_os_end(void)
{
    return SQLITE_OK;
}

static int print_row(void *context, int columns, char **values, char **names)
{
    (void)context, (void)names;
    for (int i = 0; i < columns; i++) {
        printf("%s%s", i > 0 ? "|" : "", values[i] != NULL ? values[i] : "NULL");
    }
    putchar('\n');
    return 0;
}

static int run(sqlite3 *database, const char *statement)
{
    if (sqlite3_exec(database, statement, print_row, NULL, NULL) != SQLITE_OK) {
        printf("error: %s\n", sqlite3_errmsg(database));
        return 1;
    }
    return 0;
}

/* The whole file, or NULL. */
static unsigned char *map(const char *name, off_t *bytes)
{
    int file = open(name, O_RDONLY);
    void *at;

    *bytes = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    if (*bytes < 0) {
        return NULL;
    }
    at = mmap(NULL, (size_t)*bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    return at == MAP_FAILED ? NULL : at;
}

int main(int count, char **words)
{
    sqlite3 *database;
    off_t bytes;
    unsigned char *at = map(count < 2 ? "" : words[1], &bytes);
    int failed = 0;

    if (at == NULL) {
        perror(count < 2 ? "sqlite_map: no database" : words[1]);
        return 2;
    }
    if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
        sqlite3_deserialize(database, "main", at, bytes, bytes, SQLITE_DESERIALIZE_READONLY) !=
            SQLITE_OK) {
        fputs("sqlite_map: no memory\n", stderr);
        return 2;
    }
    failed += run(database, "PRAGMA mmap_size=1000000000");
    for (int i = 2; i < count; i++) {
        failed += run(database, words[i]);
    }
    sqlite3_close(database);
    return failed != 0;
}
