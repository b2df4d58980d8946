/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h, libgen.h, regex.h, dirent.h, poll.h, pthread.h and others over virtual memory. Programs
 * of other people had to be edited for want of these wrappers.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <libgen.h>
#undef basename
char *basename(const char *path);

static char text[1000], name[200];
static int numbers[50];
static void *root;
static size_t count;
static int calls;

static int by_value(const void *a, const void *b)
{
    calls++;
    return *(const int *)a - *(const int *)b;
}

static int by_sign(const void *a, const void *b, void *sign)
{
    calls++;
    return *(int *)sign * (*(const int *)a - *(const int *)b);
}

static void keep(void *key)
{
    calls += key != NULL;
}

static void visit(const void *node, VISIT which, int depth)
{
    if (which == postorder || which == leaf) {
        printf("%d@%d ", **(int *const *)node, depth);
    }
}

static void tables(void)
{
    static int sign = -1, key;

    for (int i = 0; i < 40; i++) {
        numbers[i] = i * 7919 % 41;
    }
    qsort_r(numbers, 40, sizeof *numbers, by_sign, &sign);
    printf("%d %d %d, %d calls\n", numbers[0], numbers[20], numbers[39], calls);
    key = 17;
    count = 40;
    printf("%td\n", (int *)lfind(&key, numbers, &count, sizeof key, by_value) - numbers);
    key = 99;
    printf("%d\n", lfind(&key, numbers, &count, sizeof key, by_value) == NULL);
    printf("%td ", (int *)lsearch(&key, numbers, &count, sizeof key, by_value) - numbers);
    printf("%td %zu %d\n", (int *)lsearch(&key, numbers, &count, sizeof key, by_value) - numbers,
           count, numbers[40]);
    for (int i = 0; i < 30; i++) {
        tsearch(&numbers[i], &root, by_value);
    }
    key = 30;
    printf("%d ", **(int **)tfind(&key, &root, by_value));
    printf("%d ", tdelete(&key, &root, by_value) != NULL);
    printf("%d\n", tfind(&key, &root, by_value) == NULL);
    twalk(root, visit);
    putchar('\n');
    tdestroy(root, keep);
}

static void hashes(void)
{
    static const char *const words[] = {"one", "two", "three", "two"};

    hcreate(20);
    for (int i = 0; i < 4; i++) {
        strcpy(name, words[i]); /* the same place each time: the table must have kept the text */
        ENTRY *found = hsearch((ENTRY){strdup(name), &numbers[i]}, ENTER);
        printf("%s %td ", found->key, (int *)found->data - numbers);
    }
    strcpy(name, "three");
    printf("%td ", (int *)hsearch((ENTRY){name, NULL}, FIND)->data - numbers);
    strcpy(name, "four");
    printf("%d\n", hsearch((ENTRY){name, NULL}, FIND) == NULL);
    hdestroy();
    struct element {
        struct element *next, *previous;
        int value;
    } *a = calloc(3, sizeof *a);
    insque(&a[0], NULL);
    insque(&a[1], &a[0]);
    insque(&a[2], &a[0]);
    remque(&a[1]);
    printf("%d %d %d\n", a[0].next == &a[2], a[2].previous == &a[0], a[2].next == NULL);
    free(a);
}

static void paths(void)
{
    static const char *const some[] = {"/usr/lib/x.c", "/usr/", "usr", "/",
                                       "",             "a//b//", ".",  "//x"};

    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        strcpy(name, some[i]);
        printf("[%s]", dirname(name));
        printf("[%s]", name);
        strcpy(name, some[i]);
        printf("[%s]", basename(name));
        printf("[%s][%s]\n", __xpg_basename(name), name);
    }
    strcpy(text, "*.[ch]");
    strcpy(name, "file.c");
    printf("%d %d\n", fnmatch(text, name, 0), fnmatch(text, "file.o", 0));
}

static int is_named(const struct dirent *entry)
{
    return entry->d_name[0] == 'n';
}

static int seen(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    calls += (int)strlen(path) + kind + at->level + (status->st_size == 3);
    return 0;
}

static void folders(void)
{
    static struct dirent **list;
    static glob_t found;
    static struct stat status;
    static struct timespec times[2] = {{1000000000, 5}, {1234567890, 0}};

    snprintf(name, sizeof name, "folder%d", (int)getpid());
    printf("%d\n", mkdirat(AT_FDCWD, name, 0755));
    for (int i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "%s/%s%d", name, i < 4 ? "n" : "other", 12 - i * i);
        FILE *file = fopen(text, "w");
        fputs("abc", file);
        fclose(file);
    }
    int n = scandir(name, &list, is_named, alphasort);
    for (int i = 0; i < n; i++) {
        printf("%s ", list[i]->d_name);
    }
    qsort(list, (size_t)n, sizeof *list, (int (*)(const void *, const void *))versionsort);
    for (int i = 0; i < n; i++) {
        printf("%s ", list[i]->d_name);
        free(list[i]);
    }
    free(list);
    errno = 0;
    n = scandir("nowhere", &list, NULL, NULL);
    printf("%d %d\n", n, errno == ENOENT);
    snprintf(text, sizeof text, "%s/n*", name);
    printf("%d ", glob(text, 0, NULL, &found));
    printf("%zu %s ", found.gl_pathc, strchr(found.gl_pathv[1], '/'));
    globfree(&found);
    printf("%d\n", glob("nowhere/*", 0, NULL, &found) == GLOB_NOMATCH);
    calls = 0;
    n = nftw(name, seen, 5, FTW_PHYS);
    printf("%d %d\n", n, calls - 7 * (int)strlen(name));
    snprintf(text, sizeof text, "%s/n12", name);
    printf("%d %d ", utimensat(AT_FDCWD, text, times, 0), fstatat(AT_FDCWD, text, &status, 0));
    printf("%ld %ld ", (long)status.st_mtim.tv_sec, (long)status.st_atim.tv_nsec);
    int file = open(text, O_RDWR);
    times[1].tv_sec++;
    printf("%d %d %ld\n", futimens(file, times), fstat(file, &status), (long)status.st_mtim.tv_sec);
    printf("%d %d\n", futimens(file, NULL), faccessat(AT_FDCWD, text, R_OK, 0));
    close(file);
    DIR *folder = opendir(name);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        n = entry->d_name[0] == '.' ? 0 : unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    printf("%d %d\n", n, unlinkat(AT_FDCWD, name, AT_REMOVEDIR));
}

static void expressions(void)
{
    static regex_t regex, bad;
    static regmatch_t match[4];
    static char message[100];

    strcpy(name, "([a-z]+)=([0-9]*)(x?)");
    strcpy(text, "some words, size=4096 and more");
    printf("%d ", regcomp(&regex, name, REG_EXTENDED));
    printf("%zu %d\n", regex.re_nsub, regexec(&regex, text, 4, match, 0));
    for (int i = 0; i < 4; i++) {
        printf("%d-%d ", (int)match[i].rm_so, (int)match[i].rm_eo);
    }
    match[0] = (regmatch_t){14, 20};
    printf("%d ", regexec(&regex, text, 2, match, REG_STARTEND));
    printf("%d-%d ", (int)match[1].rm_so, (int)match[1].rm_eo);
    printf("%d %d\n", regexec(&regex, "nothing", 0, NULL, 0), regexec(&regex, "a=", 0, NULL, 0));
    int error = regcomp(&bad, "a(", REG_EXTENDED | REG_NOSUB);
    printf("%zu %s ", regerror(error, &bad, message, sizeof message), message);
    printf("%zu %s\n", regerror(error, &bad, message, 5), message);
    regfree(&regex);
}

static void waiting(void)
{
    static int ends[2];
    static fd_set reads;
    static struct timeval now;
    static struct timespec at_once;
    static struct pollfd list[2];
    static sigset_t set;

    printf("%d\n", pipe2(ends, O_CLOEXEC));
    for (int round = 0; round < 2; round++) {
        FD_ZERO(&reads);
        FD_SET(ends[0], &reads);
        now.tv_usec = 1000;
        int n = select(ends[0] + 1, &reads, NULL, NULL, &now);
        printf("%d %d ", n, FD_ISSET(ends[0], &reads) != 0);
        FD_SET(ends[0], &reads);
        n = pselect(ends[0] + 1, &reads, NULL, NULL, &at_once, NULL);
        printf("%d %d ", n, FD_ISSET(ends[0], &reads) != 0);
        list[0] = (struct pollfd){ends[0], POLLIN, 0};
        list[1] = (struct pollfd){ends[1], POLLOUT, 0};
        n = poll(list, 2, 0);
        printf("%d %d %d ", n, list[0].revents, list[1].revents);
        n = ppoll(list, 1, &at_once, NULL);
        printf("%d %d\n", n, list[0].revents);
        n = (int)write(ends[1], "x", 1);
    }
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    printf("%d %d ", sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
    printf("%d %d\n", sigprocmask(SIG_BLOCK, &set, NULL), sigdelset(&set, SIGUSR1));
}

static void memory_files(void)
{
    static char buffer[20];
    static char *made;
    static size_t bytes;
    int a = 0, b = 0;

    strcpy(buffer, "12 34 rest");
    FILE *file = fmemopen(buffer, 11, "r");
    printf("%d %d %d ", fscanf(file, "%d %d", &a, &b), a, b);
    printf("%ld %s\n", ftell(file), fgets(name, sizeof name, file));
    fclose(file);
    file = fmemopen(buffer, sizeof buffer, "w");
    printf("%d %d ", fprintf(file, "%s", "new text"), fflush(file));
    printf("%d %d %s\n", fputs("that is too long", file) >= 0, fclose(file) == 0, buffer);
    strcpy(buffer, "ab");
    file = fmemopen(buffer, sizeof buffer, "a+");
    fputs("cd", file);
    rewind(file);
    printf("%s %d", fgets(name, sizeof name, file), fseek(file, 21, SEEK_SET));
    fclose(file);
    printf(" %s\n", buffer);
    file = open_memstream(&made, &bytes);
    for (int i = 0; i < 3000; i++) {
        fprintf(file, "%d,", i);
    }
    fflush(file);
    printf("%zu %.20s ", bytes, made + 13000);
    fseek(file, 0, SEEK_SET);
    fputs("X", file);
    fclose(file);
    printf("%zu %.9s %zu\n", bytes, made, strlen(made));
    free(made);
    file = open_memstream(&made, &bytes);
    fclose(file);
    printf("%zu [%s]\n", bytes, made);
    free(made);
}

static void once_more(void)
{
    calls++;
}

static void locks(void)
{
    static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, again;
    static pthread_mutexattr_t how;
    static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static pthread_key_t key;
    static struct timespec past = {1, 0};
    static sem_t semaphore;
    static mtx_t mutex;
    static once_flag flag = ONCE_FLAG_INIT;
    static int value;

    printf("%d %d ", pthread_mutex_lock(&plain), pthread_mutex_trylock(&plain));
    printf("%d %d\n", pthread_mutex_unlock(&plain), pthread_mutex_destroy(&plain));
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    printf("%d %d ", pthread_mutex_init(&again, &how), pthread_mutexattr_destroy(&how));
    printf("%d %d ", pthread_mutex_lock(&again), pthread_mutex_lock(&again));
    printf("%d %d ", pthread_mutex_unlock(&again), pthread_mutex_unlock(&again));
    printf("%d\n", pthread_mutex_unlock(&again));
    printf("%d %d ", pthread_rwlock_rdlock(&shared), pthread_rwlock_trywrlock(&shared));
    printf("%d %d\n", pthread_rwlock_unlock(&shared), pthread_rwlock_wrlock(&shared));
    pthread_mutex_init(&plain, NULL);
    pthread_mutex_lock(&plain);
    printf("%d ", pthread_cond_timedwait(&condition, &plain, &past));
    printf("%d %d\n", pthread_cond_signal(&condition), pthread_cond_broadcast(&condition));
    calls = 0;
    pthread_once(&once, once_more);
    pthread_once(&once, once_more);
    call_once(&flag, once_more);
    call_once(&flag, once_more);
    printf("%d %d ", calls, pthread_key_create(&key, NULL));
    pthread_setspecific(key, &value);
    printf("%d\n", pthread_getspecific(key) == &value);
    printf("%d %d ", sem_init(&semaphore, 0, 1), sem_wait(&semaphore));
    printf("%d %d ", sem_trywait(&semaphore), sem_post(&semaphore));
    printf("%d %d\n", sem_getvalue(&semaphore, &value), value);
    printf("%d %d ", mtx_init(&mutex, mtx_plain), mtx_lock(&mutex));
    printf("%d %d\n", mtx_trylock(&mutex) == thrd_busy, mtx_unlock(&mutex));
}

/* What a child prints is its own; only its status is shown. */
static int status_of(pid_t child)
{
    static int status;

    return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

static void children(void)
{
    static char *words[5], *environment[2];
    static pid_t child;

    words[0] = strdup("sh");
    words[1] = strdup("-c");
    words[2] = strdup("exit $(($0 + WORD))");
    words[3] = strdup("5");
    environment[0] = strdup("WORD=3");
    strcpy(name, "sh");
    strcpy(text, "/bin/sh");
    setenv("WORD", "4", 1);
    for (int how = 0; how < 7; how++) {
        fflush(stdout);
        child = fork();
        if (child == 0) {
            switch (how) {
            case 0: execvp(name, words); break;
            case 1: execv(text, words); break;
            case 2: execve(text, words, environment); break;
            case 3: execl(text, words[0], words[1], words[2], "1", NULL); break;
            case 4: execlp(name, words[0], words[1], words[2], "2", NULL); break;
            case 5: execle(text, words[0], words[1], words[2], "9", NULL, environment); break;
            default: execvp("no such program", words); break;
            }
            _exit(99);
        }
        printf("%d ", status_of(child));
    }
    printf("%d ", posix_spawnp(&child, name, NULL, NULL, words, environment));
    printf("%d\n", status_of(child));
    strcpy(text, "WORD=10");
    printf("%d %s\n", putenv(strdup(text)), getenv("WORD"));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        warn("%s", text);
        errx(7, "%s %d", text, 1);
    }
    printf("%d\n", status_of(child));
}

int main(void)
{
    tables();
    hashes();
    paths();
    folders();
    expressions();
    waiting();
    memory_files();
    locks();
    children();
    return 0;
}
