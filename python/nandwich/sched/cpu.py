# SPDX-License-Identifier: Apache-2.0
"""What the scheduler costs the node's processor, for the simulator.

Clocks of the CC1010-class 8051 (4 clocks a cycle), measured by running tests/targets/decide.c in
the instruction simulator of tests/targets/8051; tests/python/test_sched_8051.py measures them again
and fails when a figure here is more than a tenth off.
"""

from dataclasses import astuple, dataclass

CC1010_HZ = 14_745_600

Costs = tuple[int, int, int, int, int, int, int]


@dataclass(frozen=True)
class Clocks:
    """One policy on one processor, in clocks."""

    submit: int  # one request handed in by an interrupt
    decide: int  # nw_sched_next() with one flow waiting and nothing new
    flow: int  # more for each further flow that waits
    pressed: int  # in place of both, with over half of the slots taken
    arrival: int  # more for each request taken in
    done: int  # nw_sched_done() of an operation
    end: int  # more for each request ended

    def in_ns(self, hertz: int) -> Costs:
        """The costs in nanoseconds, in the order the simulator takes them."""
        submit, decide, flow, pressed, arrival, done, end = (
            count * 10**9 // hertz for count in astuple(self)
        )
        return submit, decide, flow, pressed, arrival, done, end


CC1010 = {
    "fifo": Clocks(5005, 1200, 0, 1200, 5690, 5790, 4000),
    "edf": Clocks(5005, 3020, 0, 3020, 4160, 12920, 4000),
    "g-edf": Clocks(5005, 3020, 0, 3020, 4890, 12920, 4000),
    "rg-edf": Clocks(5005, 3220, 612, 4440, 4890, 12920, 4000),
    "slack": Clocks(5005, 7500, 2290, 10870, 4890, 12920, 4000),
}

#: Processors a scenario may name.
PROCESSORS = ("cc1010", "none")


def costs_ns(processor: str, policy: str) -> Costs:
    """The costs of a policy on a processor; "none" decides in no time."""
    if processor == "none":
        return (0, 0, 0, 0, 0, 0, 0)
    return CC1010[policy].in_ns(CC1010_HZ)
