/* SPDX-License-Identifier: Apache-2.0 */
/* Files by stdio and by descriptor, with virtual buffers and names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static unsigned char data[20000], back[20000];
static char name[100], line[300];
static struct stat info;
static FILE *file;
static fpos_t place;
static time_t when;
static struct tm date;

static void streams(void)
{
    strcpy(name, "files.tmp");
    file = fopen(name, "w+b");
    printf("%zu %zu\n", fwrite(data, 1, sizeof data, file), fwrite(data, 7, 3, file));
    rewind(file);
    printf("%zu %d\n", fread(back, 10, 5000, file), feof(file) != 0);
    printf("%d %d\n", memcmp(data, back, 20000), ferror(file));
    fseek(file, 100, SEEK_SET);
    fgetpos(file, &place);
    printf("%d %d\n", getc(file) == data[100], fgetc(file) == data[101]);
    fsetpos(file, &place);
    printf("%ld %d\n", ftell(file), ungetc('u', file));
    printf("%d\n", fgetc(file));
    fclose(file);
}

/* Lists of parts on the stack, their bytes in virtual memory. */
static void parts(void)
{
    struct iovec from[] = {{data, 5}, {data + 50, 0}, {data + 100, 7000}};
    struct iovec to[] = {{back, 3000}, {back + 9000, 9000}};
    int f = open("parts.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);

    printf("%zd ", writev(f, from, 3));
    lseek(f, 0, SEEK_SET);
    memset(back, 0, sizeof back);
    printf("%zd ", readv(f, to, 2));
    printf("%d %d %d ", memcmp(back, data, 5), memcmp(back + 5, data + 100, 2995),
           memcmp(back + 9000, data + 100 + 2995, 4005));
    printf("%zd %zd %d\n", readv(f, to, 2), readv(f, to, -1), errno);
    close(f);
    remove("parts.tmp");
}

static void lines(void)
{
    char *grown = NULL;
    size_t room = 0;

    file = fopen(name, "w");
    setvbuf(file, line, _IOFBF, sizeof line);
    fputs("first\nsecond line\n\nlast without end", file);
    fclose(file);
    file = fopen(name, "r");
    while (fgets(line, 9, file) != NULL) {
        printf("<%s>", line);
    }
    rewind(file);
    for (ssize_t n; (n = getline(&grown, &room, file)) >= 0;) {
        printf("[%zd %s]", n, grown);
    }
    printf("\n");
    free(grown);
    rewind(file);
    int n = fscanf(file, "%s %s", line, line + 100);
    printf("%d %s %s\n", n, line, line + 100);
    fclose(file);
}

/* Lines that end in zero bytes, and a line of no room. */
static void records(void)
{
    char *grown = NULL;
    size_t room = 0;

    file = fopen(name, "w+");
    fwrite("one\0two\0\0end", 1, 12, file);
    rewind(file);
    for (ssize_t n; (n = getdelim(&grown, &room, '\0', file)) >= 0;) {
        printf("%zd %s,", n, grown);
    }
    line[0] = 'x';
    printf("%d %d\n", fgets(line, 1, file) == line, line[0]);
    free(grown);
    fclose(file);
}

/* A pipe that holds less than asked for, but as much as a transfer's piece might be. */
static void pipes(void)
{
    int ends[2];

    alarm(20);
    printf("%d ", pipe(ends));
    for (size_t n = 1024; n <= 16384; n *= 2) {
        printf("%zd ", write(ends[1], data, n));
        printf("%zd %d ", read(ends[0], back, sizeof back), memcmp(back, data, n));
    }
    printf("\n");
    alarm(0);
    close(ends[0]);
    close(ends[1]);
}

static void descriptors(void)
{
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

    printf("%zd ", write(f, data, 9000));
    printf("%zd ", pwrite(f, data + 50, 100, 5000));
    printf("%ld ", (long)lseek(f, 0, SEEK_SET));
    printf("%zd ", read(f, back, sizeof back));
    printf("%d %d\n", memcmp(back, data, 5000), memcmp(back + 5000, data + 50, 100));
    fstat(f, &info);
    printf("%ld ", (long)info.st_size);
    close(f);
    memset(&info, 0, sizeof info);
    printf("%d %ld %d\n", stat(name, &info), (long)info.st_size, S_ISREG(info.st_mode));
    printf("%d ", rename(name, "renamed.tmp"));
    strcpy(name, "renamed.tmp");
    printf("%d %d ", access(name, R_OK), remove(name));
    errno = 0;
    printf("%d %d\n", open(name, O_RDONLY), errno == ENOENT);
    printf("%d %d\n", fopen(name, "r") == NULL, getcwd(line, sizeof line) == line);
}

static void times(void)
{
    when = 86400 * 365;
    gmtime_r(&when, &date);
    printf("%zu ", strftime(line, sizeof line, "%Y-%m-%d %H:%M", &date));
    printf("%s ", line);
    date.tm_mday += 40;
    printf("%ld %d ", (long)(mktime(&date) % 1000), date.tm_mon);
    printf("%s", asctime(gmtime(&when)));
    printf("%d\n", time(&when) == when);
    printf("%d %d\n", getenv("PATH") != NULL, clock() != (clock_t)-1);
}

int main(void)
{
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (unsigned char)(i * 13 + i / 251);
    }
    streams();
    parts();
    lines();
    records();
    pipes();
    descriptors();
    times();
    return 0;
}
