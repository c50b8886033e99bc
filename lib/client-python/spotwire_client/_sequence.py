"""Finds gaps and duplicates in the records of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Mapping


@dataclass(frozen=True)
class Gap:
    """Missing records."""

    stream: str
    ticker: str
    #: For klines only.
    timeframe: str | None
    #: The epoch of the record that revealed the gap.
    epoch: str
    #: The expected sequence; None when a new epoch began or klines could not be recovered: how many are missing is unknown.
    expected: int | None
    #: The received sequence: ``received - expected`` records are missing.
    received: int


@dataclass(frozen=True)
class Position:
    """The last accepted record of one (stream, ticker, timeframe)."""

    epoch: str
    seq: int


def judge(last: Position | None, message: Mapping[str, Any]) -> Literal["stale", "gap", "next"]:
    """
    Compares a record with the last one: ``stale`` was accepted before (a replay overlaps), ``gap`` means that records are
    missing, ``next`` follows. A record with ``merged: n`` replaces n earlier records too, so its jump of n + 1 is not a gap.
    """
    if last is None:
        return "next"
    is_snapshot = message.get("event") == "snapshot"
    # A snapshot is the current record, so that nothing but closed klines can be lost. After an update, the start is unknown.
    if message["epoch"] != last.epoch:
        return "next" if is_snapshot else "gap"
    seq: int = message["seq"]
    # A later subscription receives the current record again.
    if seq < last.seq or (seq == last.seq and not is_snapshot):
        return "stale"
    return "gap" if seq - int(message.get("merged", 0)) > last.seq + 1 else "next"


def gap_of(last: Position | None, message: Mapping[str, Any]) -> Gap:
    """The gap that a record revealed; without a last record, how many are missing is unknown."""
    return Gap(
        stream=message["type"],
        ticker=message["ticker"],
        timeframe=message.get("timeframe"),
        epoch=message["epoch"],
        expected=last.seq + 1 if last is not None and message["epoch"] == last.epoch else None,
        received=message["seq"],
    )
