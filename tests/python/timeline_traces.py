# SPDX-License-Identifier: Apache-2.0
"""Reads a trace of TrackEvents with Perfetto's own protobuf, and checks what each must keep."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

_BEGIN, _END, _COUNTER = (
    getattr(schema.TrackEvent, f"TYPE_{name}") for name in ("SLICE_BEGIN", "SLICE_END", "COUNTER")
)
_CLEARED, _NEEDS = 1, 2  # sequence_flags


@dataclass
class Slice:
    track: str
    name: str
    category: str
    start: int
    depth: int
    notes: dict[str, int | str]
    flows: list[int]
    ending: list[int]
    end: int = -1

    @property
    def took(self) -> int:
        return self.end - self.start


@dataclass
class Trace:
    process: str = ""
    tracks: list[str] = field(default_factory=list)  # in the order in which they stand
    parents: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    counters: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))

    def on(self, track: str) -> list[Slice]:
        return [one for one in self.slices if one.track == track]

    @property
    def requests(self) -> list[Slice]:
        return self.on("host requests")

    @property
    def chip(self) -> list[Slice]:
        return [one for one in self.slices if one.category == "chip operation"]


class _Sequence:
    """Names and time of one sequence of packets."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, int], str] = {}
        self.track = 0
        self.time = 0
        self.begun = False
        self.open: list[Slice] = []

    def learn(self, data: Any) -> None:
        for kind in ("event_categories", "event_names", "debug_annotation_names"):
            self.names |= {(kind, entry.iid): entry.name for entry in getattr(data, kind)}
        for entry in data.debug_annotation_string_values:
            self.names["value", entry.iid] = entry.str.decode()

    def notes(self, event: Any) -> dict[str, int | str]:
        return {
            self.names["debug_annotation_names", note.name_iid]: (
                self.names["value", note.string_value_iid]
                if note.HasField("string_value_iid")
                else getattr(note, str(note.WhichOneof("value")))
            )
            for note in event.debug_annotations
        }


def _packets(path: Path) -> Iterator[Any]:
    trace = schema.Trace()
    trace.ParseFromString(path.read_bytes())
    for packet in trace.packet:
        for part in (packet, packet.track_event, packet.track_descriptor, packet.interned_data):
            assert len(UnknownFieldSet(part)) == 0, "a field that perfetto does not know"
        yield packet


def read(path: Path) -> Trace:
    """The trace; AssertionError where it breaks what perfetto asks for."""
    trace = Trace()
    names: dict[int, str] = {}
    sequences: dict[int, _Sequence] = defaultdict(_Sequence)
    for packet in _packets(path):
        sequence = sequences[packet.trusted_packet_sequence_id]
        if packet.sequence_flags & _CLEARED:
            sequence.begun = True
            sequence.names.clear()
        assert sequence.begun or not packet.sequence_flags & _NEEDS, "names before their sequence"
        if packet.HasField("trace_packet_defaults"):
            sequence.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if packet.HasField("interned_data"):
            sequence.learn(packet.interned_data)
        if packet.HasField("track_descriptor"):
            _open_track(trace, names, packet.track_descriptor)
        if packet.HasField("track_event"):
            assert packet.timestamp >= sequence.time, "time went back"
            sequence.time = packet.timestamp
            _take(trace, names, sequence, packet)
    assert not any(sequence.open for sequence in sequences.values()), "a slice without an end"
    _check_flows(trace)
    return trace


def _open_track(trace: Trace, names: dict[int, str], about: Any) -> None:
    assert about.uuid not in names, "two tracks with one number"
    if about.HasField("process"):
        names[about.uuid] = trace.process = about.process.process_name
        return
    names[about.uuid] = about.name
    trace.parents[about.name] = names[about.parent_uuid]  # opened before
    if about.name not in trace.tracks:  # of one name: the viewer makes one of them
        trace.tracks.append(about.name)
    if about.HasField("counter"):
        trace.units[about.name] = about.counter.unit_name


def _take(trace: Trace, names: dict[int, str], sequence: _Sequence, packet: Any) -> None:
    event = packet.track_event
    track = names[event.track_uuid or sequence.track]
    if event.type == _COUNTER:
        assert track in trace.units
        trace.counters[track].append((packet.timestamp, event.double_counter_value))
        return
    if event.type == _END:
        assert sequence.open, "an end without a slice"
        sequence.open.pop().end = packet.timestamp
        return
    assert event.type == _BEGIN
    one = Slice(
        track,
        sequence.names["event_names", event.name_iid],
        sequence.names["event_categories", event.category_iids[0]],
        packet.timestamp,
        len(sequence.open),
        sequence.notes(event),
        list(event.flow_ids),
        list(event.terminating_flow_ids),
    )
    trace.slices.append(one)
    sequence.open.append(one)


def _check_flows(trace: Trace) -> None:
    """Each flow leads from a slice to others, and ends once, at its last."""
    seen: dict[int, list[Slice]] = defaultdict(list)
    ends: dict[int, Slice] = {}
    for one in trace.slices:
        for flow in (*one.flows, *one.ending):
            seen[flow].append(one)
        for flow in one.ending:
            assert flow not in ends, "a flow ends twice"
            ends[flow] = one
    assert seen.keys() == ends.keys(), "a flow without an end"
    for flow, slices in seen.items():
        assert len(slices) > 1, "a flow to nowhere"
        assert ends[flow].start == max(one.start for one in slices)
