/* SPDX-License-Identifier: Apache-2.0 */
/* A database in memory: tables, an index, a join, text search, a rollback. */
#include <stdio.h>
#include <string.h>

#include "sqlite3.h"

static int failures;

static int print_row(void *context, int columns, char **values, char **names)
{
    (void)context;
    (void)names;
    for (int i = 0; i < columns; i++) {
        printf("%s%s", i > 0 ? "|" : "", values[i] != NULL ? values[i] : "NULL");
    }
    putchar('\n');
    return 0;
}

static void run(sqlite3 *database, const char *statement)
{
    char *message = NULL;

    if (sqlite3_exec(database, statement, print_row, NULL, &message) != SQLITE_OK) {
        printf("error: %s\n", message);
        failures++;
    }
    sqlite3_free(message);
}

static void fill(sqlite3 *database, int rows)
{
    static const char *const colours[] = {"red", "green", "blue", "gray", "white"};
    sqlite3_stmt *insert;
    char name[32];
    unsigned x = 7;

    run(database, "BEGIN");
    if (sqlite3_prepare_v2(database, "INSERT INTO part(name, colour, weight) VALUES(?, ?, ?)", -1,
                           &insert, NULL) != SQLITE_OK) {
        failures++;
        return;
    }
    for (int i = 0; i < rows; i++) {
        x = x * 1103515245U + 12345U;
        snprintf(name, sizeof name, "part-%05d", i);
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(insert, 2, colours[(x >> 16) % 5], -1, SQLITE_STATIC);
        sqlite3_bind_double(insert, 3, (double)((x >> 8) % 1000) / 8);
        failures += sqlite3_step(insert) != SQLITE_DONE;
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    run(database, "COMMIT");
}

int main(void)
{
    sqlite3 *database;

    if (sqlite3_open(":memory:", &database) != SQLITE_OK) {
        return 2;
    }
    run(database, "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT, colour TEXT, weight REAL)");
    fill(database, 1500);
    run(database, "CREATE INDEX by_colour ON part(colour, weight)");
    run(database, "SELECT colour, count(*), round(sum(weight), 3) FROM part GROUP BY colour");
    run(database, "SELECT name, weight FROM part WHERE colour = 'red'"
                  " ORDER BY weight DESC LIMIT 3");
    run(database, "BEGIN; DELETE FROM part WHERE id % 2 = 0; ROLLBACK; SELECT count(*) FROM part");
    run(database, "UPDATE part SET name = upper(name) WHERE name LIKE '%-0007%'");
    run(database, "SELECT group_concat(name) FROM part WHERE name GLOB 'PART*'");
    run(database, "WITH RECURSIVE f(a, b) AS"
                  " (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f LIMIT 40)"
                  " SELECT max(a), printf('%08x', sum(a)) FROM f");
    run(database, "SELECT a.name FROM part a JOIN part b ON a.weight = b.weight AND a.id < b.id"
                  " ORDER BY a.id, b.id LIMIT 2");
    run(database, "SELECT no_such_column FROM part");
    run(database, "PRAGMA integrity_check");
    sqlite3_close(database);
    printf("%d failed\n", failures);
    return failures == 1 ? 0 : 1;
}
