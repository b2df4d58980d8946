# SPDX-License-Identifier: Apache-2.0
"""What the scheduler costs the node's processor, for the simulator.

Clocks of the CC1010-class 8051 (4 clocks a cycle), measured by running tests/targets/decide.c in
the instruction simulator of tests/targets/8051; tests/python/test_sched_8051.py measures them again
and fails when a figure here is more than a tenth off.
"""

from dataclasses import dataclass

CC1010_HZ = 14_745_600


@dataclass(frozen=True)
class Clocks:
    """One policy on one processor, in clocks."""

    submit: int  # one request handed in by an interrupt
    decide: int  # nw_sched_next() with one flow waiting and nothing new
    flow: int  # more for each further flow that waits
    arrival: int  # more for each request taken in
    done: int  # nw_sched_done() of an operation
    end: int  # more for each request ended

    def in_ns(self, hertz: int) -> tuple[int, int, int, int, int, int]:
        """The six costs in nanoseconds, in the order the simulator takes them."""
        submit, decide, flow, arrival, done, end = (
            count * 10**9 // hertz
            for count in (
                self.submit,
                self.decide,
                self.flow,
                self.arrival,
                self.done,
                self.end,
            )
        )
        return submit, decide, flow, arrival, done, end


CC1010 = {
    "fifo": Clocks(submit=4810, decide=1200, flow=0, arrival=5240, done=5900, end=4320),
    "edf": Clocks(submit=4810, decide=2920, flow=0, arrival=4000, done=12150, end=4360),
    "g-edf": Clocks(submit=4810, decide=2920, flow=0, arrival=5130, done=12150, end=4360),
    "rg-edf": Clocks(submit=4810, decide=2920, flow=790, arrival=5130, done=12150, end=4360),
    "slack": Clocks(submit=4810, decide=6860, flow=700, arrival=5130, done=12150, end=4360),
}

#: Processors a scenario may name.
PROCESSORS = ("cc1010", "none")


def costs_ns(processor: str, policy: str) -> tuple[int, int, int, int, int, int]:
    """The six costs of a policy on a processor; "none" decides in no time."""
    if processor == "none":
        return (0, 0, 0, 0, 0, 0)
    return CC1010[policy].in_ns(CC1010_HZ)
