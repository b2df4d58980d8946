/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: quick */
/* Goal: a file is replaced whole or not at all, and nothing else on the host changes. Outside rigs
 * found device nodes and links replaced by plain files, planted files followed and modes lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "nandwich-twin/file.h"

static char folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/nandwich-test-XXXXXX");
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect(const char *path, const char *text)
{
    char found[64] = {0};
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    (void)fread(found, 1, sizeof found - 1U, file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(found, text);
}

static int entries(void)
{
    DIR *here = opendir(".");
    int count = 0;

    assert_non_null(here);
    while (readdir(here) != NULL) {
        count++;
    }
    assert_int_equal(closedir(here), 0);
    return count - 2; /* . and .. */
}

/* Replace by "new"; with `good` 0 thrown away at the end. */
static int replace(const char *path, int good)
{
    struct nw_replace replace;

    if (nw_replace_begin(&replace, path) != 0) {
        return -1;
    }
    assert_int_equal(write(replace.file, "new", 3), 3);
    return nw_replace_end(&replace, good);
}

static mode_t mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static void test_content_and_mode(void **state)
{
    (void)state;
    put("a", "old");
    assert_int_equal(chmod("a", 0600), 0);
    assert_int_equal(replace("a", 0), -1);
    expect("a", "old");
    assert_int_equal(replace("a", 1), 0);
    expect("a", "new");
    assert_int_equal(mode_of("a"), 0600);
    (void)umask(027);
    assert_int_equal(replace("b", 1), 0);
    assert_int_equal(mode_of("b"), 0640);
    assert_int_equal(entries(), 2);
}

/* The old file can be read until the end of the replacement, and the new one is private already. */
static void test_old_one_stays_meanwhile(void **state)
{
    struct nw_replace replace;
    struct stat status;

    (void)state;
    put("a", "old");
    assert_int_equal(chmod("a", 0600), 0);
    assert_int_equal(nw_replace_begin(&replace, "a"), 0);
    assert_int_equal(fstat(replace.file, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    expect("a", "old");
    assert_int_equal(nw_replace_end(&replace, 1), 0);
    expect("a", "");
}

/* Stopped runs left a hidden file of megabytes each. */
static void test_nothing_is_left_when_killed(void **state)
{
    struct nw_replace replace;
    struct stat status;

    (void)state;
    put("a", "old");
    assert_int_equal(nw_replace_begin(&replace, "a"), 0);
    assert_int_equal(write(replace.file, "new", 3), 3);
    assert_int_equal(fstat(replace.file, &status), 0);
    if (status.st_nlink == 0) { /* this file system can do it */
        assert_int_equal(entries(), 1);
    }
    assert_int_equal(nw_replace_end(&replace, 1), 0);
    expect("a", "new");
    assert_int_equal(entries(), 1);
}

static void test_links_stay(void **state)
{
    struct stat status;

    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    put("d/real", "old");
    assert_int_equal(symlink("real", "d/inner"), 0);
    assert_int_equal(symlink("d/inner", "outer"), 0);
    assert_int_equal(replace("outer", 1), 0);
    expect("d/real", "new");
    assert_int_equal(lstat("outer", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(lstat("d/inner", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(symlink("d/fresh", "dangling"), 0); /* leads to nothing yet: as open() does */
    assert_int_equal(replace("dangling", 1), 0);
    expect("d/fresh", "new");
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(replace("loop", 1), -1);
    assert_int_equal(errno, ELOOP);
}

static void test_only_files_are_replaced(void **state)
{
    struct nw_replace replaced;
    struct stat status;
    char got[4] = {0};
    int reader;

    (void)state;
    assert_int_equal(replace("/dev/null", 1), 0);
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(replace("pipe", 1), 0);
    assert_int_equal(read(reader, got, 3), 3);
    assert_string_equal(got, "new");
    assert_int_equal(close(reader), 0);
    assert_int_equal(stat("pipe", &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(nw_replace_begin(&replaced, "d"), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(nw_replace_begin(&replaced, "none/"), -1);
    assert_int_equal(nw_replace_begin(&replaced, "none/a"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(nw_replace_begin(&replaced, ""), -1);
    assert_int_equal(entries(), 2);
}

static void test_a_full_disk_is_told(void **state)
{
    struct nw_replace replace;
    FILE *stream;

    (void)state;
    assert_int_equal(nw_replace_begin(&replace, "/dev/full"), 0);
    stream = nw_replace_stream(&replace);
    assert_non_null(stream);
    assert_true(fputs("new", stream) >= 0);
    assert_int_not_equal(fclose(stream), 0);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(nw_replace_end(&replace, 0), -1);
    assert_int_equal(errno, ENOSPC); /* still told */
}

/* A name of 255 bytes leaves no room for a suffix. */
static void test_long_names(void **state)
{
    char name[4200];

    (void)state;
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    assert_int_equal(replace(name, 1), 0);
    expect(name, "new");
    name[255] = 'n';
    name[sizeof name - 1U] = '\0';
    assert_int_equal(replace(name, 1), -1);
    assert_int_equal(errno, ENAMETOOLONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_content_and_mode, enter, leave),
        cmocka_unit_test_setup_teardown(test_old_one_stays_meanwhile, enter, leave),
        cmocka_unit_test_setup_teardown(test_nothing_is_left_when_killed, enter, leave),
        cmocka_unit_test_setup_teardown(test_links_stay, enter, leave),
        cmocka_unit_test_setup_teardown(test_only_files_are_replaced, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_full_disk_is_told, enter, leave),
        cmocka_unit_test_setup_teardown(test_long_names, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
