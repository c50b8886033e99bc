"""What a stream follows and what it has requested on its connection. The difference must be sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Literal, Mapping, Protocol, Sequence

from ._contract import STREAM_TICKERS_PER_MESSAGE_MAX_COUNT
from ._error import InvalidArgumentError
from ._sequence import Position

#: Maximum number of topics that one stream follows; far more than any plan allows on a connection.
_TOPICS_MAX_COUNT = 10_000

TopicKey = tuple[str, str, "str | None"]


class Follower(Protocol):
    """What the topics need of a subscription."""

    def on_record(self, message: Any) -> None: ...

    def on_accepted(self, topic: "Topic", data: Mapping[str, Any]) -> None: ...

    def on_rejected(self, topic: "Topic", rejection: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True)
class Selection:
    """The topics of a subscription."""

    stream: str
    tickers: Sequence[str]
    timeframe: str | None
    #: Whether to receive the current record directly after the ack.
    snapshot: bool


#: Seconds of the timeframes that begin at multiples of their length; others follow the trading day.
_FIXED_S = {"M1": 60, "M5": 300, "M15": 900, "M30": 1_800, "H1": 3_600}


def is_state(message: Mapping[str, Any]) -> bool:
    """True for a kline as it is now; false for a correction or a removal of an older one, and for other records."""
    return message["type"] == "kline" and message["event"] in ("snapshot", "update")


@dataclass(eq=False)
class KlineProgress:
    """Which klines of a topic were delivered as closed, and what waits while others are read."""

    #: Every kline that opened before this was delivered as closed (Unix seconds); None before the first record.
    closed_until: int | None = None
    #: Records may be missing since the last kline.
    doubtful: bool = False
    #: Records that wait for a recovery; None without one.
    held: list[Any] | None = None

    def note(self, message: Mapping[str, Any]) -> None:
        """Notes a kline that is delivered."""
        time: int = message["data"]["time"]
        if self.closed_until is None:
            self.closed_until = time
        if message["closed"]:
            self.closed_until = max(self.closed_until, time + 1)

    def misses(self, message: Mapping[str, Any]) -> bool:
        """Whether klines may have closed between what was delivered and this one, and were not delivered. Settles the doubt."""
        doubtful, self.doubtful = self.doubtful, False
        time, until = message["data"]["time"], self.closed_until
        if not doubtful or until is None or time <= until:
            return False
        length = _FIXED_S.get(message["timeframe"])
        return length is None or -(-until // length) * length < time


@dataclass(eq=False)
class Topic:
    """One (stream, ticker, timeframe) and its last sequence."""

    stream: str
    ticker: str
    timeframe: str | None
    #: In the order they came; a dictionary serves as an ordered set.
    followers: dict[Follower, None] = field(default_factory=dict)
    snapshot: bool = False
    #: It was requested on this connection.
    asked: bool = False
    #: It was accepted on this connection. Earlier records belong to a subscription that has ended.
    live: bool = False
    last: Position | None = None
    #: Of klines: what was delivered.
    progress: KlineProgress = field(default_factory=KlineProgress)
    #: The latest message about it; answers to earlier messages are outdated.
    request: "TopicRequest | None" = None

    @property
    def key(self) -> TopicKey:
        return (self.stream, self.ticker, self.timeframe)

    @property
    def resume_position(self) -> Position | None:
        """None for a live topic that a later subscription requests again: a resume would not send the current record."""
        return None if self.live else self.last

    @property
    def leaving(self) -> bool:
        return not self.followers and self.asked

    @property
    def wanted(self) -> bool:
        return bool(self.followers) and not self.asked


@dataclass(frozen=True, eq=False)
class TopicRequest:
    """A message to send, and the topics of its ack."""

    method: Literal["subscribe", "unsubscribe"]
    params: Mapping[str, Any]
    topics: Sequence[Topic]


def key_of(message: Mapping[str, Any]) -> TopicKey:
    """The topic a record belongs to."""
    return (message["type"], message["ticker"], message.get("timeframe"))


def _same_selection(a: Topic, b: Topic) -> bool:
    return (a.stream, a.timeframe) == (b.stream, b.timeframe)


def _same_subscribe(a: Topic, b: Topic) -> bool:
    """Whether two topics can share a message: all its fields except the tickers must be equal."""
    epochs = [topic.resume_position and topic.resume_position.epoch for topic in (a, b)]
    return _same_selection(a, b) and a.snapshot == b.snapshot and epochs[0] == epochs[1]


def _selection_of(topics: Sequence[Topic]) -> dict[str, Any]:
    first = topics[0]
    params: dict[str, Any] = {"stream": first.stream, "tickers": [topic.ticker for topic in topics]}
    return params if first.timeframe is None else {**params, "timeframe": first.timeframe}


def _resume_of(topics: Sequence[Topic]) -> dict[str, Any]:
    positions = {topic.ticker: topic.resume_position for topic in topics}
    known = {ticker: position for ticker, position in positions.items() if position is not None}
    if len(known) < len(positions):
        return {}
    epoch = next(iter(known.values())).epoch
    return {"resume": {"epoch": epoch, "seq": {ticker: position.seq for ticker, position in known.items()}}}


class Topics:
    """All topics of a stream."""

    def __init__(self) -> None:
        self._topics: dict[TopicKey, Topic] = {}

    @property
    def wanted(self) -> bool:
        """True while at least one topic is followed."""
        return any(topic.followers for topic in self._topics.values())

    @property
    def pending(self) -> bool:
        """True while there is something to send."""
        return any(topic.leaving or topic.wanted for topic in self._topics.values())

    def follow(self, selection: Selection, follower: Follower) -> None:
        """Adds a follower. Raises invalid_argument for too many topics."""
        found = [
            self._topics.get((selection.stream, ticker, selection.timeframe))
            or Topic(selection.stream, ticker, selection.timeframe)
            for ticker in selection.tickers
        ]
        if len(self._topics.keys() | {topic.key for topic in found}) > _TOPICS_MAX_COUNT:
            raise InvalidArgumentError(f"One stream follows at most {_TOPICS_MAX_COUNT} topics.")
        for topic in found:
            topic.followers[follower] = None
            topic.snapshot = topic.snapshot or selection.snapshot
            topic.asked = False
            self._topics[topic.key] = topic

    def unfollow(self, follower: Follower) -> None:
        """Removes a follower from all its topics."""
        for topic in list(self._topics.values()):
            if follower not in topic.followers:
                continue
            del topic.followers[follower]
            if topic.followers:
                continue
            # Records still in transit belong to no subscription; a later subscription starts fresh.
            topic.live = False
            topic.last = None
            topic.progress = KlineProgress()
            if not topic.asked:
                self.remove(topic)

    def find(self, key: TopicKey) -> Topic | None:
        """The topic with this key, if it is followed."""
        return self._topics.get(key)

    def next(self) -> TopicRequest | None:
        """The next message that is needed; its topics count as requested from now on."""
        leaving = self._batch(lambda topic: topic.leaving, _same_selection)
        if leaving:
            return self._asked(TopicRequest("unsubscribe", _selection_of(leaving), leaving), False)
        wanted = self._batch(lambda topic: topic.wanted, _same_subscribe)
        if not wanted:
            return None
        params = {**_selection_of(wanted), "snapshot": wanted[0].snapshot, **_resume_of(wanted)}
        return self._asked(TopicRequest("subscribe", params, wanted), True)

    def ask_again(self, request: TopicRequest) -> None:
        """Sends the topics of a request that are still wanted again, after a timeout or the rate limit."""
        for topic in request.topics:
            topic.asked = request.method == "unsubscribe" and not topic.followers

    def remove(self, topic: Topic) -> None:
        """Removes a topic: the service rejected it, or no longer follows it and it has no new subscription."""
        if self._topics.get(topic.key) is topic:
            del self._topics[topic.key]

    def disconnected(self) -> None:
        """Resets all requests after the end of the connection."""
        for topic in list(self._topics.values()):
            topic.asked = topic.live = False
            if not topic.followers:
                self.remove(topic)

    def _batch(self, due: Callable[[Topic], bool], same: Callable[[Topic, Topic], bool]) -> list[Topic]:
        """The topics that fit in one message with the first one that is due."""
        found: list[Topic] = []
        for topic in self._topics.values():
            if len(found) == STREAM_TICKERS_PER_MESSAGE_MAX_COUNT:
                break
            if due(topic) and same(found[0] if found else topic, topic):
                found.append(topic)
        return found

    @staticmethod
    def _asked(request: TopicRequest, asked: bool) -> TopicRequest:
        for topic in request.topics:
            topic.asked = asked
            topic.request = request
        return request
