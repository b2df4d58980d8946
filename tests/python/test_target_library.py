# SPDX-License-Identifier: Apache-2.0
"""The library that a program on a board calls, judged by known values and by the host's own C
library. The native run of a board is no judge: it formats and scans by the same wrappers, so that
their mistakes are "identical to native"."""

import json
import subprocess
from pathlib import Path
from typing import Any

import branching_calls
import pytest
from board_runs import needs_boards
from click.testing import CliRunner, Result
from runs import own_cache as own_cache

from lab.device import boards
from nandwich.cli.main import main

pytestmark = needs_boards

_LARGE = ("cortex-m3", "rv32")


def _invoke(folder: Path, text: str, target: str, *options: str) -> Result:
    source = folder / "program.c"
    source.write_text(text)
    return CliRunner().invoke(main, ["run", str(source), "-w", "--target", target, "-q", *options])


def _host(folder: Path, text: str) -> str:
    """What the same program prints with the host's own compiler and C library."""
    source, program = folder / "host.c", folder / "host"
    source.write_text(text)
    subprocess.run(["cc", "-w", "-D_GNU_SOURCE", str(source), "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    return done.stdout


def _check(folder: Path, text: str, known: str, target: str) -> None:
    result: Any = _invoke(folder, text, target)
    assert result.exit_code == 0, result.output
    assert result.stdout == known
    assert _host(folder, text) == known


SCAN = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
int main(void)
{
    int a = -1, b = -1, end = -1;
    short s = -1;
    signed char c = -1;
    long l = -1;
    long long q = -1;
    unsigned x = 0;
    size_t size = 0;
    intmax_t most = 0;
    ptrdiff_t step = 0;
    float f = 0;
    double d = 0;
    static char word[8], set[8], two[2];
    int n = sscanf("12 31", "%d %d", &a, &b);
    printf("%d %d %d\n", n, a, b);
    n = sscanf("7 -8 123456 9876543210 ff", "%hd %hhd %ld %lld %x", &s, &c, &l, &q, &x);
    printf("%d %d %d %ld %lld %u\n", n, s, c, l, q, x);
    n = sscanf("1.5 -0.25 word abc,xy z", "%f %lf %7s %7[a-c],%2c%n", &f, &d, word, set, two, &end);
    printf("%d %d %d %s %s %c%c %d\n", n, (int)(f * 4), (int)(d * 4), word, set, two[0], two[1],
           end);
    n = sscanf("18 -19 20 21", "%zu %jd %qd%hhn %td", &size, &most, &q, &c, &step);
    printf("%d %d %d %d %d %d\n", n, (int)size, (int)most, (int)q, c, (int)step);
    n = sscanf("5 x", "%d %d %d", &a, &b, &end);
    printf("%d %d %d\n", n, a, b);
    n = sscanf("1 2 3 4", "%*d %d %*d %d", &a, &b);
    printf("%d %d %d\n", n, a, b);
    return 0;
}
"""


@pytest.mark.parametrize("target", _LARGE)
def test_what_is_scanned_goes_to_its_place(tmp_path: Path, target: str) -> None:
    """A va_list handed on by value was advanced in the caller on x86-64 alone: on the boards each
    conversion took the first target, `sscanf("12 31", "%d %d", &a, &b)` left 31 in a. And
    newlib knows neither %hhd nor %zd."""
    known = (
        "2 12 31\n5 7 -8 123456 9876543210 255\n5 6 -1 word abc xy 21\n4 18 -19 20 9 21\n1 5 31\n"
        "2 2 4\n"
    )
    _check(tmp_path, SCAN, known, target)


PRINT = r"""
#include <stdio.h>
int main(void)
{
    static char text[] = "abcdef";
    printf("%d %i|%5d|%-5d|%05d|%+d|%.3d\n", -12, 34, 5, 6, 7, 8, 9);
    printf("%u %x %X %o|%ld %lu|%lx\n", 65535U, 255U, 255U, 8U, -100000L, 3000000000UL, 74565UL);
    printf("%s|%8s|%-8s|%.3s|%c%c|%3c|%-3c|%%\n", text, text, text, text, 'x', 'y', 'z', 'w');
    printf("%*d|%-*d|%*d|%.*s|\n", 4, 1, 4, 2, -4, 3, 2, text);
    printf("%hhd %hhu %hd\n", 300, 511, -5);
    return 0;
}
"""


@pytest.mark.parametrize("target", boards.BOARDS)
def test_what_is_printed_is_known(tmp_path: Path, target: str) -> None:
    """The small library of the ATmega128 took a width of %c for nothing, a negative width for none,
    and printed all of the int that %hhd was given."""
    known = (
        "-12 34|    5|6    |00007|+8|009\n65535 ff FF 10|-100000 3000000000|12345\n"
        "abcdef|  abcdef|abcdef  |abc|xy|  z|w  |%\n   1|2   |3   |ab|\n44 255 -5\n"
    )
    _check(tmp_path, PRINT, known, target)


WIDE = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *end, *copy = strdup("one,two");
    printf("%lld %llx %zu %jd %td\n", -9876543210LL, 0x123456789aLL, (size_t)7, (intmax_t)-8,
           (ptrdiff_t)9);
    printf("%.3f %g %e|%8.2f\n", 3.14159, 0.5, 12345.678, -2.5);
    long number = strtol("0x1fz", &end, 16);
    printf("%ld %s", number, end);
    number = (long)(strtod("2.5e1x", &end) * 2);
    printf(" %ld %s %s\n", number, end, strtok(copy, ","));
    printf("%d %d %d\n", strcmp("a", "b") < 0, (int)strspn("abcx", "abc"), atoi("-77"));
    return snprintf(copy, 4, "%d", 12345) != 5 || strcmp(copy, "123") != 0;
}
"""


@pytest.mark.parametrize("target", _LARGE)
def test_a_large_library_is_known(tmp_path: Path, target: str) -> None:
    known = (
        "-9876543210 123456789a 7 -8 9\n3.142 0.5 1.234568e+04|   -2.50\n31 z 50 x one\n1 3 -77\n"
    )
    _check(tmp_path, WIDE, known, target)


JUMP = r"""
#include <setjmp.h>
#include <stdio.h>
static jmp_buf where;
static volatile int depth;
static void down(int n)
{
    depth++;
    if (n == 0) longjmp(where, 7);
    down(n - 1);
}
int main(void)
{
    volatile int tries = 0;
    int result = setjmp(where);
    if (tries++ < 3) down(5);
    printf("%d %d %d\n", result, depth, tries);
    return 0;
}
"""


@pytest.mark.parametrize("target", boards.BOARDS)
def test_a_jump_comes_back(tmp_path: Path, target: str) -> None:
    """longjmp was made of siglongjmp, which no small C library has, and the ATmega128's library had
    no part of it: setjmp linked on no board."""
    _check(tmp_path, JUMP, "7 18 4\n", target)


ERROR = r"""
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    errno = 5;
    return errno - 5;
}
"""


@pytest.mark.parametrize("target", boards.BOARDS)
def test_errno_has_a_place(tmp_path: Path, target: str) -> None:
    """On a RISC-V the address of a thread's variable comes from the .got, which the linker script
    did not place: its contents had an address in RAM."""
    _check(tmp_path, ERROR, "", target)


TEXT = r"""
#include <stdio.h>
#include <string.h>
int main(void)
{
    puts(strerror(12));
    return 0;
}
"""


@pytest.mark.parametrize("target", _LARGE)
def test_constants_of_odd_length_move_no_code(tmp_path: Path, target: str) -> None:
    """The strings of strerror lay in front of memcpy, written in assembly with no alignment: it
    began at an odd address, and nothing could call it."""
    result = _invoke(tmp_path, TEXT, target)
    assert result.exit_code == 0, result.output
    assert result.stdout == "Not enough space\n"  # as newlib and picolibc call ENOMEM


CLOCK = r"""
#include <stdio.h>
#include <time.h>
int main(void)
{
    static volatile unsigned char big[100000];
    clock_t before = clock();
    for (unsigned i = 0; i < sizeof big; i++) big[i] = i;
    clock_t after = clock();
    printf("%d %d %d\n", time(NULL) > 1600000000, after >= before, after < 60 * CLOCKS_PER_SEC);
    return 0;
}
"""


@pytest.mark.parametrize("target", _LARGE)
def test_the_board_has_a_clock(tmp_path: Path, target: str) -> None:
    _check(tmp_path, CLOCK, "1 1 1\n", target)


def test_the_clock_is_the_report_s(tmp_path: Path) -> None:
    """Goal: clock() tells processor and bus together, as the report does."""
    text = CLOCK.replace(
        'printf("', 'printf("%ld\\n", (long)(after * 1000 / CLOCKS_PER_SEC)); return 0; printf("'
    )
    source = tmp_path / "program.c"
    source.write_text(text)
    words = ["run", str(source), "-w", "--target", "rv32", "--ram", "16K", "--no-native"]
    result = CliRunner().invoke(main, [*words, "--json", str(tmp_path / "report")])
    assert result.exit_code == 0, result.output
    time = json.loads((tmp_path / "report").read_text())["time_ns"]
    both = (time["processor_least"] + time["storage"]) / 1e6
    assert 0.9 * both - 1 < int(result.stdout.splitlines()[0]) <= both


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        (
            "cortex-m3",
            '#include <unistd.h>\nint main(void) { return write(1, "x", 1) != 1; }\n',
            "program.c:2: error: write() is not there on cortex-m3: fopen(), fread(), fwrite()",
        ),
        (
            "cortex-m3",
            "#include <unistd.h>\nint main(void) { return fork() != 0; }\n",
            "program.c:2: error: fork() is not there on cortex-m3: the program is alone on the "
            "board",
        ),
        (
            "rv32",
            "#include <unistd.h>\nint main(void) { return fork() != 0; }\n",
            "program.c:2: error: fork() is not there on rv32: the program is alone on the board",
        ),
        (
            "atmega128",
            '#include <stdio.h>\nint main(void) { int a; return sscanf("1", "%d", &a); }\n',
            "program.c:2: error: sscanf() is not there on atmega128: its library is small; read "
            "numbers with strtoul()",
        ),
        (
            "atmega128",
            '#include <stdio.h>\nint main(void) { return rename("a", "b"); }\n',
            "program.c:2: error: rename() is not there on atmega128: it has no files and no stdin",
        ),
        (
            "atmega128",
            "#include <time.h>\nlong f = 1;\nint main(void) { return f / CLOCKS_PER_SEC; }\n",
            "program.c:3: error: CLOCKS_PER_SEC is not there on atmega128: it has no clock",
        ),
        (
            "atmega128",
            "#include <string.h>\nint main(void) { return strerror(1) == 0; }\n",
            "program.c:2: error: strerror() is not there on atmega128: its library is small",
        ),
    ],
)
def test_what_a_board_lacks_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], target: str, text: str, said: str
) -> None:
    """Goal: a function that the board lacks is one sentence with the line and what there is, not
    the linker's talk of _execve and lib_a-timesr.o."""
    result = _invoke(tmp_path, text, target, "--no-native")
    assert result.exit_code == 2
    told = result.stderr + capfd.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 2, told


RENAME = r"""
#include <stdio.h>
int main(void)
{
    FILE *file = fopen("before", "w");
    fputs("text", file);
    fclose(file);
    int result = rename("before", "behind");
    printf("%d %d %d\n", result, fopen("before", "r") == NULL, fopen("behind", "r") != NULL);
    return 0;
}
"""


@pytest.mark.parametrize("target", _LARGE)
def test_a_file_gets_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """newlib makes rename() of link(), which no board has."""
    monkeypatch.chdir(tmp_path)
    _check(tmp_path, RENAME, "0 1 1\n", target)


LARGE = r"""
#include <stdio.h>
unsigned char x[32767], y[14000];
unsigned char first = 3;
int main(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < sizeof x; i += 499) x[i] = (unsigned char)(i / 499 + first);
    for (unsigned i = 0; i < sizeof y; i += 499) y[i] = (unsigned char)(i / 499 + 1);
    for (unsigned i = 0; i < sizeof y; i += 499) wrong += y[i] != (unsigned char)(i / 499 + 1);
    for (unsigned i = 0; i < sizeof x; i += 499) wrong += x[i] != (unsigned char)(i / 499 + first);
    printf("%u\n", wrong);
    return 0;
}
"""


def test_globals_of_more_than_32_kib_on_a_mote(tmp_path: Path) -> None:
    """Their bytes were a difference of pointers, of 16 bits with a sign: from 32,768 on the virtual
    memory did not open, though 52 KB of it are promised."""
    _check(tmp_path, LARGE, "0\n", "atmega128")


LIMIT = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    void *most = malloc(32767);
    printf("%d ", most != NULL);
    printf("%d %d ", malloc(32768U) == NULL, calloc(2, 20000) == NULL);
    printf("%d\n", realloc(most, 40000U) == NULL);
    return 0;
}
"""


def test_no_object_is_larger_than_a_difference(tmp_path: Path) -> None:
    """malloc(40000) answered memory on the ATmega128, and the compiler, which takes no object for
    larger than 32,767 bytes there, read zeros behind them."""
    result = _invoke(tmp_path, LIMIT, "atmega128", "--no-native", "-O0")
    assert (result.exit_code, result.stdout) == (0, "1 1 1 1\n"), result.output
    large = LARGE.replace("32767", "32768")
    result = _invoke(tmp_path, large, "atmega128", "--no-native")
    assert result.exit_code == 2
    assert "'x' has 32768 B: on atmega128 a variable may have 32767 B" in result.stderr


@pytest.mark.parametrize("seed", range(6))
def test_arguments_that_branch(tmp_path: Path, seed: int) -> None:
    """printf("%d\\n", a > b ? x : y) printed from a place nobody had written: LLVM's code for an
    AVR splits the call's block at the condition, and behind it stores relative to a frame pointer
    that was never set. The native run did the same, so that nothing noticed."""
    text = branching_calls.program(seed)
    known = _host(tmp_path, text)
    level = ("-O0", "-O1", "-O2", "-Os", "-O3", "-Oz")[seed]
    result: Any = _invoke(tmp_path, text, "atmega128", level)
    assert result.exit_code == 0, result.output  # native and virtual are the same
    assert result.stdout == known


GROWS = """
void use(char *room);
int main(int argc, char **argv)
{
    char room[argc];
    use(room);
    return room[0];
}
void use(char *room) { room[0] = 0; }
"""


def test_a_stack_that_grows_is_refused_on_a_mote(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """There the array's first byte lay where the next call put its return address."""
    result = _invoke(tmp_path, GROWS, "atmega128", "-fno-inline")
    assert result.exit_code == 2
    told = result.stderr + capfd.readouterr().err
    assert "program.c:5: in 'main': an array of variable length" in told


SMALL = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[40], other[40];
int main(void)
{
    fputs("constant\n", stdout);
    fprintf(stdout, "plain\n");
    fprintf(stdout, "%c", 'x');
    fprintf(stdout, "%s", "str\n");
    printf("%c", 'y');
    printf("z");
    printf("\n");
    printf("%s\n", "const");
    strcpy(text, "abcdef");
    memcpy(other, text, 7);
    if (memcmp(text, other, 6) == 0) puts("same");
    if (strcmp(text, "abcdef") == 0) fputs(text, stdout);
    printf("%d\n", (int)strlen(text));
    putchar('q');
    putc('\n', stdout);
    printf("%d ", (int)fwrite(text + 1, 2, 2, stdout));
    return fputc('w', stdout) != 'w';
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_clang_makes_of_the_small_library(tmp_path: Path, level: str) -> None:
    """From -O1 on clang makes fwrite() of fputs("constant", stderr), and the ATmega128 had none: a
    function that the page lists did not link."""
    result: Any = _invoke(tmp_path, SMALL, "atmega128", level)
    assert result.exit_code == 0, result.output
    assert result.stdout == _host(tmp_path, SMALL)


LONG = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[60000], a[24000], b[24000], *end;
static unsigned sum(const char *at)
{
    unsigned all = 1;
    for (; *at; at++) all = all * 31 + *at;
    return all & 0xffff;
}
int main(void)
{
    int n = 0, m = 0, i;
    for (i = 0; i < 46000; i++) text[i] = (char)('a' + i % 23);
    text[300] = text[20300] = ' ';
    strcpy(text + 45000, " 17 0x2a -2.5 next");
    double x = 0;
    printf("%d ", sscanf(text, "%s %s%n %*s %d%i", a, b, &n, &i, &m));
    printf("%u %u %d %d %d\n", sum(a), sum(b), n, i, m);
    printf("%d ", sscanf(text + 301, "%19999[a-w]%n%c %399[^m]", b, &n, a, a + 1));
    printf("%u %d %c %u\n", sum(b), n, a[0], sum(a + 1));
    x = strtod(text + 45010, &end);
    printf("%d %s|", (int)(x * 2), end);
    i = (int)strtol(text + 45000, &end, 10);
    printf("%d %d|", i, (int)(end - text));
    i = (int)strtol(text, &end, 10);
    printf("%d %d\n", i, (int)(end - text));
    memset(text, ' ', 20000);
    memset(text + 20000, '0', 900);
    strcpy(text + 20900, "123 z");
    n = sscanf(text, "%d %c%n", &i, a, &m);
    printf("%d %d %c %d\n", n, i, a[0], m);
    i = (int)strtoul(text, &end, 10);
    printf("%d %d\n", i, (int)(end - text));
    return 0;
}
"""


@pytest.mark.parametrize("target", _LARGE)
def test_texts_need_no_room(tmp_path: Path, target: str) -> None:
    """Each %s without a width took 16 KB of the board's RAM, sscanf and strtod a copy of all of
    their text: two of the first and texts of 24,000 bytes ended the program "out of host
    memory"."""
    _check(tmp_path, LONG, _host(tmp_path, LONG), target)


def test_a_file_s_words_need_no_room(tmp_path: Path) -> None:
    text = (
        LONG[: LONG.index("int main")]
        + r"""
int main(void)
{
    int m = 0, i = 0, n = scanf("%s %s", a, b);
    n += scanf("%*s %d%n", &i, &m);
    printf("%d %u %u %d %d\n", n, sum(a), sum(b), i, m);
    return 0;
}
"""
    )
    source = tmp_path / "program.c"
    source.write_text(text)
    words = " ".join(("q" * 300, "ab" * 10000, "c" * 20000, "17"))
    command = ["run", str(source), "-w", "--target", "cortex-m3", "-q"]
    result = CliRunner().invoke(main, command, input=words)
    assert result.exit_code == 0, result.output
    native = tmp_path / "native"
    subprocess.run(["cc", "-w", str(source), "-o", str(native)], check=True)
    known = subprocess.run([native], input=words, capture_output=True, text=True, check=True)
    assert result.stdout == known.stdout


NUMBERS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[20000], *end;
int main(void)
{
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "  77 ", 5);
    printf("%u ", (unsigned)strtoul(text, &end, 10));
    printf("%d ", (int)(end - text));
    memset(text + 1, '0', 250);
    memcpy(text + 251, "13 ", 3);
    printf("%u ", (unsigned)strtoul(text, &end, 10));
    printf("%d\n", (int)(end - text));
    return 0;
}
"""


def test_a_number_in_a_long_text_on_a_mote(tmp_path: Path) -> None:
    """strtoul copied all of the text behind the number."""
    _check(tmp_path, NUMBERS, "77 4 13 253\n", "atmega128")
