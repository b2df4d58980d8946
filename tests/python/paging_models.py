# SPDX-License-Identifier: Apache-2.0
"""Replacement policies written down plainly from their papers, with lists: what the fast ones are
tested against. References are (page, is a write); a model gives (faults, write-backs)."""

from collections.abc import Callable, Sequence

Reference = tuple[int, bool]
Counts = tuple[int, int]


class Books:
    """Counts faults, and writes of dirty pages that leave."""

    def __init__(self) -> None:
        self.dirty: set[int] = set()
        self.faults = 0
        self.writebacks = 0

    def leaves(self, page: int) -> None:
        """The page loses its frame."""
        if page in self.dirty:
            self.dirty.remove(page)
            self.writebacks += 1

    def counts(self) -> Counts:
        return self.faults, self.writebacks


def lru(references: Sequence[Reference], frames: int, *, by_use: bool = True) -> Counts:
    """Oldest first; without `by_use` by the time of coming in: round robin."""
    books, queue = Books(), list[int]()
    for page, write in references:
        if page not in queue:
            books.faults += 1
            if len(queue) == frames:
                books.leaves(queue.pop(0))
            queue.append(page)
        elif by_use:
            queue.remove(page)
            queue.append(page)
        if write:
            books.dirty.add(page)
    return books.counts()


def round_robin(references: Sequence[Reference], frames: int) -> Counts:
    return lru(references, frames, by_use=False)


def cflru(references: Sequence[Reference], frames: int) -> Counts:
    """Park 2006: the oldest clean page among the oldest quarter, else the oldest."""
    books, queue = Books(), list[int]()
    window = max(1, frames // 4)
    for page, write in references:
        if page in queue:
            queue.remove(page)
        else:
            books.faults += 1
            if len(queue) == frames:
                clean = [each for each in queue[:window] if each not in books.dirty]
                victim = clean[0] if clean else queue[0]
                queue.remove(victim)
                books.leaves(victim)
        queue.append(page)
        if write:
            books.dirty.add(page)
    return books.counts()


class _Clock(Books):
    """Frames in a circle, with a hand and a mark each."""

    def __init__(self, frames: int) -> None:
        super().__init__()
        self.frames = frames
        self.pages: list[int] = []
        self.marks: list[bool] = []
        self.hand = 0

    def turn(self) -> list[int]:
        return [(self.hand + step) % self.frames for step in range(self.frames)]

    def is_dirty(self, frame: int) -> bool:
        return self.pages[frame] in self.dirty

    def play(self, references: Sequence[Reference], choose: "Callable[[_Clock], int]") -> Counts:
        for page, write in references:
            if page in self.pages:
                frame = self.pages.index(page)
            else:
                self.faults += 1
                if len(self.pages) < self.frames:
                    self.pages.append(page)
                    self.marks.append(True)
                    frame = len(self.pages) - 1
                else:
                    frame = choose(self)
                    self.leaves(self.pages[frame])
                    self.pages[frame] = page
            self.marks[frame] = True
            if write:
                self.dirty.add(page)
        return self.counts()

    def unmarked(self) -> int:
        """The first frame without a mark; those passed lose theirs."""
        while self.marks[self.hand]:
            self.marks[self.hand] = False
            self.hand = (self.hand + 1) % self.frames
        return self.hand


def _clock_choose(clock: _Clock) -> int:
    frame = clock.unmarked()
    clock.hand = (frame + 1) % clock.frames
    return frame


def _vm_choose(clock: _Clock) -> int:
    """core/vm/policy.c: a dirty candidate yields to a clean page among the next 63."""
    frame = clock.unmarked()
    if clock.is_dirty(frame):
        for near in clock.turn()[1:64]:
            if not clock.marks[near] and not clock.is_dirty(near):
                return near
    clock.hand = (frame + 1) % clock.frames
    return frame


def _esc_choose(clock: _Clock) -> int:
    """Turns for the lowest class; the one for unmarked dirty pages clears the marks it passes."""
    while True:
        for wanted in (False, True):
            for frame in clock.turn():
                if not clock.marks[frame] and clock.is_dirty(frame) == wanted:
                    clock.hand = (frame + 1) % clock.frames
                    return frame
                if wanted:
                    clock.marks[frame] = False


def clock(references: Sequence[Reference], frames: int) -> Counts:
    return _Clock(frames).play(references, _clock_choose)


def vm(references: Sequence[Reference], frames: int) -> Counts:
    return _Clock(frames).play(references, _vm_choose)


def esc(references: Sequence[Reference], frames: int) -> Counts:
    return _Clock(frames).play(references, _esc_choose)


def two_queues(references: Sequence[Reference], frames: int) -> Counts:
    """Johnson and Shasha 1994, full version; the head of each list is its newest."""
    books = Books()
    a1in, a1out, am = list[int](), list[int](), list[int]()
    kin, kout = max(1, frames // 4), max(1, frames // 2)

    def reclaim() -> None:
        if len(a1in) + len(am) < frames:
            return
        if len(a1in) > kin or not am:
            old = a1in.pop()
            a1out.insert(0, old)
            if len(a1out) > kout:
                a1out.pop()
        else:
            old = am.pop()
        books.leaves(old)

    for page, write in references:
        if page in am:
            am.remove(page)
            am.insert(0, page)
        elif page in a1out:
            books.faults += 1
            a1out.remove(page)
            reclaim()
            am.insert(0, page)
        elif page not in a1in:
            books.faults += 1
            reclaim()
            a1in.insert(0, page)
        if write:
            books.dirty.add(page)
    return books.counts()


class _Arc(Books):
    """T1, T2 with their ghosts B1, B2; index 0 is the oldest."""

    def __init__(self, frames: int) -> None:
        super().__init__()
        self.c, self.p = frames, 0
        self.t1: list[int] = []
        self.t2: list[int] = []
        self.b1: list[int] = []
        self.b2: list[int] = []

    def demote(self, of: list[int], to: list[int]) -> None:
        page = of.pop(0)
        to.append(page)
        self.leaves(page)

    def adapt(self, page: int) -> None:
        if page in self.b1:
            self.p = min(self.c, self.p + max(1, len(self.b2) // len(self.b1)))
        elif page in self.b2:
            self.p = max(0, self.p - max(1, len(self.b1) // len(self.b2)))


class _ArcItself(_Arc):
    def replace(self, page: int) -> None:
        if self.t1 and ((page in self.b2 and len(self.t1) == self.p) or len(self.t1) > self.p):
            self.demote(self.t1, self.b1)
        else:
            self.demote(self.t2, self.b2)

    def miss(self, page: int) -> None:
        if page in self.b1 or page in self.b2:
            self.adapt(page)
            self.replace(page)
            (self.b1 if page in self.b1 else self.b2).remove(page)
            self.t2.append(page)
            return
        if len(self.t1) + len(self.b1) == self.c:
            if len(self.t1) < self.c:
                self.b1.pop(0)
                self.replace(page)
            else:
                self.leaves(self.t1.pop(0))
        else:
            total = sum(map(len, (self.t1, self.t2, self.b1, self.b2)))
            if total >= self.c:
                if total == 2 * self.c:
                    self.b2.pop(0)
                self.replace(page)
        self.t1.append(page)


def arc(references: Sequence[Reference], frames: int) -> Counts:
    """Megiddo and Modha, FAST 2003, figure 4."""
    cache = _ArcItself(frames)
    for page, write in references:
        if page in cache.t1 or page in cache.t2:
            (cache.t1 if page in cache.t1 else cache.t2).remove(page)
            cache.t2.append(page)
        else:
            cache.faults += 1
            cache.miss(page)
        if write:
            cache.dirty.add(page)
    return cache.counts()


class _Car(_Arc):
    def __init__(self, frames: int) -> None:
        super().__init__(frames)
        self.marked: set[int] = set()

    def replace(self) -> None:
        while True:
            first = len(self.t1) >= max(1, self.p)
            of, ghost = (self.t1, self.b1) if first else (self.t2, self.b2)
            if of[0] not in self.marked:
                self.demote(of, ghost)
                return
            self.marked.remove(of[0])
            self.t2.append(of.pop(0))

    def miss(self, page: int) -> None:
        known = page in self.b1 or page in self.b2
        if len(self.t1) + len(self.t2) == self.c:
            self.replace()
            if not known and len(self.t1) + len(self.b1) == self.c:
                self.b1.pop(0)
            elif not known and sum(map(len, (self.t1, self.t2, self.b1, self.b2))) == 2 * self.c:
                self.b2.pop(0)
        if known:
            self.adapt(page)
            (self.b1 if page in self.b1 else self.b2).remove(page)
            self.t2.append(page)
        else:
            self.t1.append(page)


def car(references: Sequence[Reference], frames: int) -> Counts:
    """Bansal and Modha, FAST 2004, figure 2."""
    cache = _Car(frames)
    for page, write in references:
        if page in cache.t1 or page in cache.t2:
            cache.marked.add(page)
        else:
            cache.faults += 1
            cache.miss(page)
        if write:
            cache.dirty.add(page)
    return cache.counts()


class _S3(Books):
    """Small, main and ghost queue; index 0 is the oldest."""

    def __init__(self, frames: int) -> None:
        super().__init__()
        self.frames = frames
        self.small_most = max(1, frames // 10)
        self.main_most = frames - self.small_most
        self.small: list[int] = []
        self.main: list[int] = []
        self.ghost: list[int] = []
        self.often: dict[int, int] = {}

    def leave_main(self) -> None:
        while self.main:
            page = self.main.pop(0)
            if self.often[page] == 0:
                self.leaves(page)
                return
            self.often[page] -= 1
            self.main.append(page)

    def leave_small(self) -> None:
        while self.small:
            page = self.small.pop(0)
            if self.often[page] > 1:
                self.main.append(page)
                if len(self.main) > self.main_most:
                    self.leave_main()
            else:
                self.leaves(page)
                self.ghost = [*self.ghost, page][-self.main_most :] if self.main_most else []
                return

    def miss(self, page: int) -> None:
        while len(self.small) + len(self.main) >= self.frames:
            if len(self.small) >= self.small_most:
                self.leave_small()
            else:
                self.leave_main()
        if page in self.ghost:
            self.ghost.remove(page)
            self.main.append(page)
        else:
            self.small.append(page)
        self.often[page] = 0


def s3_fifo(references: Sequence[Reference], frames: int) -> Counts:
    """Yang et al., SOSP 2023, algorithm 1."""
    cache = _S3(frames)
    for page, write in references:
        if page in cache.small or page in cache.main:
            cache.often[page] = min(3, cache.often[page] + 1)
        else:
            cache.faults += 1
            cache.miss(page)
        if write:
            cache.dirty.add(page)
    return cache.counts()


def ways(references: Sequence[Reference], frames: int, of: int) -> Counts:
    """Each set of frames for itself, by LRU."""
    sets = frames // of
    parts = [lru([each for each in references if each[0] % sets == at], of) for at in range(sets)]
    return sum(faults for faults, _ in parts), sum(writes for _, writes in parts)


def belady(references: Sequence[Reference], frames: int) -> Counts:
    """The page used farthest in the future leaves; of those never used again a clean one."""

    def choose(_now: int, soonest: dict[int, int], dirty: set[int]) -> int:
        return max(soonest, key=lambda page: (soonest[page], page not in dirty))

    return _with_future(references, choose, frames)


def belady_cost(references: Sequence[Reference], frames: int, read: int, write: int) -> Counts:
    """The farthest clean or the farthest dirty page: whose stay saves less for its time."""
    end = len(references)

    def choose(now: int, soonest: dict[int, int], dirty: set[int]) -> int:
        clean = max((p for p in soonest if p not in dirty), key=lambda p: soonest[p], default=-1)
        other = max((p for p in soonest if p in dirty), key=lambda p: soonest[p], default=-1)
        if clean < 0 or other < 0:
            return max(clean, other)
        keeps_clean = 0 if soonest[clean] == end else read
        keeps_other = (0 if soonest[other] == end else read) + write
        less = keeps_other * (soonest[clean] - now) < keeps_clean * (soonest[other] - now)
        return other if less else clean

    return _with_future(references, choose, frames)


def _with_future(
    references: Sequence[Reference],
    choose: Callable[[int, dict[int, int], set[int]], int],
    frames: int,
) -> Counts:
    books, soonest = Books(), dict[int, int]()
    for now, (page, write) in enumerate(references):
        if page not in soonest:
            books.faults += 1
            if len(soonest) == frames:
                victim = choose(now, soonest, books.dirty)
                del soonest[victim]
                books.leaves(victim)
        later = (at for at in range(now + 1, len(references)) if references[at][0] == page)
        soonest[page] = next(later, len(references))
        if write:
            books.dirty.add(page)
    return books.counts()


MODELS: dict[str, Callable[[Sequence[Reference], int], Counts]] = {
    "lru": lru,
    "round-robin": round_robin,
    "clock": clock,
    "esc": esc,
    "vm": vm,
    "cflru": cflru,
    "2q": two_queues,
    "arc": arc,
    "car": car,
    "s3-fifo": s3_fifo,
    "ways-1": lambda references, frames: ways(references, frames, 1),
    "ways-2": lambda references, frames: ways(references, frames, 2),
    "ways-4": lambda references, frames: ways(references, frames, 4),
    "ways-8": lambda references, frames: ways(references, frames, 8),
    "ways-16": lambda references, frames: ways(references, frames, 16),
    "belady": belady,
    "belady-cost": lambda references, frames: belady_cost(references, frames, 2, 9),
}
