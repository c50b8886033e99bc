"""Sends the ticks of a MetaTrader 5 terminal to a Spotwire service, and fills the minutes that were missed.

Needs Python 3.9 or later and the package MetaTrader5, on the Windows machine that runs the terminal:

    pip install MetaTrader5
    set SPOTWIRE_KEY=sw_live_...
    python spotwire_feeder.py --url https://market.example.com --symbols EURUSD,GOLD.pro=XAUUSD

The key needs the scope market:ingest. Stop it with Ctrl-C; the next start continues where it stopped.
"""

import argparse
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone

import MetaTrader5 as mt5

BATCH_MAX_TICKS = 2000
BATCH_MAX_KLINES = 5000
SYMBOLS_MAX_COUNT = 200
TIMEOUT_S = 5
BACKOFF_MIN_S = 0.5
BACKOFF_MAX_S = 32
RETRY_AFTER_MAX_S = 300
REFUSED_PAUSE_S = 60
UNKNOWN_PAUSE_S = 600
AGREE_S = 60
AWAY_S = 60
CLOCK_MAX_ERROR_S = 120
# A minute that has just ended closes a little later; the service is asked for its state after that.
SETTLE_MS = 3000
OFFSET_STEP_S = 900
PAGES_MAX_COUNT = 20
HISTORY_TRIES_MAX_COUNT = 10
HISTORY_PAUSE_S = 2
CLOCK_EVIDENCE_DAYS = 45
# copy_ticks_from starts at a full second: that many ticks of the same second may come again.
SECOND_TICKS_COUNT = 500
SECOND_TICKS_MAX_COUNT = 100_000
SAVE_S = 5
REPORT_S = 300
MINUTE_MS = 60_000
DAY_S = 86_400


def say(text):
    print(f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M:%S} {text}", flush=True)


# Time ---------------------------------------------------------------------------------------------------------------------


def sunday_of(year, month, nth):
    """Midnight (UTC) of the nth Sunday of a month; 0: the last one of a month with 31 days."""
    day = datetime(year, month, 1 if nth else 31, tzinfo=timezone.utc)
    if nth == 0:
        return day - timedelta(days=(day.weekday() + 1) % 7)
    return day + timedelta(days=(6 - day.weekday()) % 7 + 7 * (nth - 1))


def is_summer(utc_s, march, autumn):
    """Whether an instant is within summer time; both ends are (month, nth Sunday, hour in UTC)."""
    year = datetime.fromtimestamp(utc_s, timezone.utc).year
    start, end = (sunday_of(year, month, nth) + timedelta(hours=hour) for month, nth, hour in (march, autumn))
    return start.timestamp() <= utc_s < end.timestamp()


def is_summer_in_europe(utc_s):
    return is_summer(utc_s, (3, 0, 1), (10, 0, 1))


def is_summer_in_new_york(utc_s):
    return is_summer(utc_s, (3, 2, 7), (11, 1, 6))


def is_weekend(utc_s):
    """Whether forex is closed: from Friday to Sunday, 17:00 in New York."""
    local = datetime.fromtimestamp(utc_s - (4 if is_summer_in_new_york(utc_s) else 5) * 3600, timezone.utc)
    return {4: local.hour >= 17, 5: True, 6: local.hour < 17}.get(local.weekday(), False)


# The clocks that servers use: server time minus UTC (s) at an instant.
CLOCKS = {
    "eet": lambda utc_s: 10_800 if is_summer_in_europe(utc_s) else 7_200,
    "new-york+7": lambda utc_s: 10_800 if is_summer_in_new_york(utc_s) else 7_200,
}


def past_utc(clock, server_s):
    """UTC (s) of a past server time."""
    return server_s - clock(server_s - clock(server_s - 7_200))


def server_datetime(server_s):
    """What the package takes as a time: it calls server time UTC."""
    return datetime.fromtimestamp(server_s, timezone.utc)


# Requests -----------------------------------------------------------------------------------------------------------------


class Service:
    """The service, with the pauses between requests that failed."""

    def __init__(self, url, key):
        self.url = url
        self.key = key
        self.failures = 0
        self.failing_since = 0.0
        self.wait_until = 0.0
        self.last_failure = ""

    def call(self, method, path, body=""):
        """Sends one request. Returns its status (None without an answer) and its data; anything but 200 is not done."""
        data = body.encode() if body else None
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/x-ndjson"}
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                status, text, retry_after = answer.status, answer.read(), None
        except urllib.error.HTTPError as refused:
            with refused:
                status, text, retry_after = refused.code, refused.read(), refused.headers.get("Retry-After")
        except (OSError, ValueError) as error:
            self.failed(path, None, str(error), None)
            return None, {}
        try:
            envelope = json.loads(text)
            data, message = envelope.get("data") or {}, envelope.get("message", "")
        except (ValueError, AttributeError):
            data, message = {}, ""
        if status == 404 and message == "unknown_ticker":
            self.answered()
            return status, data
        if status != 200:
            self.failed(path, status, data.get("detail", message), retry_after)
            return status, data
        self.answered()
        return status, data

    def answered(self):
        if self.failures:
            say("The service answers again.")
        self.failures = 0
        self.last_failure = ""

    def failed(self, path, status, detail, retry_after):
        now = time.monotonic()
        if self.failures == 0:
            self.failing_since = now
        self.failures += 1
        if status in (401, 403):
            say(f"ALERT The service refuses the key: {detail} Next try in a minute.")
            self.wait_until = now + REFUSED_PAUSE_S
            return
        doublings = 0 if status == 413 else min(self.failures - 1, 6)
        # Between half of the pause and all of it, so that many feeders do not come back together.
        pause = min(BACKOFF_MIN_S * 2**doublings, BACKOFF_MAX_S) * random.uniform(0.5, 1)
        asked = int(retry_after) if re.fullmatch(r"\d+", retry_after or "") else 0
        self.wait_until = now + (min(asked, RETRY_AFTER_MAX_S) + random.uniform(0, BACKOFF_MIN_S) if asked else pause)
        failure = f"No answer from {self.url}: {detail}." if status is None else f"{path} was answered with {status} {detail}"
        if failure != self.last_failure:
            say(f"{failure} Trying again.")
        self.last_failure = failure

    def away(self):
        """Whether requests have failed for longer than a minute."""
        return self.failures > 0 and time.monotonic() - self.failing_since > AWAY_S


class Feed:
    """A symbol of the terminal, and how far it has been sent."""

    def __init__(self, symbol, ticker, marks):
        self.symbol = symbol
        self.ticker = ticker
        self.digits = 5
        self.point = 0.00001
        self.selected = False
        self.select_at = 0.0
        self.missed = False
        # The service must be asked for its state before ticks are sent.
        self.due = True
        self.ask_at = 0.0
        # Server time (ms) of the last answered tick (0: none), and how many of that millisecond are answered.
        self.mark = int(marks.get("mark", 0))
        self.skip = int(marks.get("skip", 0))
        # UTC (s) of the minute from which minutes may lack ticks; 0: none.
        self.gap = int(marks.get("gap", 0))
        # Minutes to send: [from, to), UTC (s).
        self.spans = []
        # Both marks, and UTC (ms) of the first tick, of the current batch.
        self.next = (self.mark, self.skip)
        self.first_ms = 0

    def marks(self):
        return {"mark": self.mark, "skip": self.skip, "gap": self.gap}

    def note_gap(self, from_s):
        minute = int(from_s // 60 * 60)
        self.gap = min(self.gap, minute) if self.gap else minute

    def advance(self):
        self.mark, self.skip = self.next

    def done(self, until_s):
        """Removes the minutes before an instant from those to send. The gap is closed with the last one."""
        self.spans = [(max(first, until_s), to) for first, to in self.spans if to > until_s]
        if not self.spans and not self.due:
            self.gap = 0


class Feeder:
    """Reads the terminal and sends what is new, until Ctrl-C."""

    def __init__(self, options):
        self.options = options
        self.service = Service(options.url, options.key)
        kept = read_marks(options.marks)
        self.feeds = [Feed(symbol, ticker, kept.get(symbol, {})) for symbol, ticker in options.symbols]
        # Server time minus UTC (s), the one that may replace it and since when that is seen; the newest tick seen so far.
        self.offset = options.offset if options.offset is not None else kept.get("offset")
        self.other = None
        self.newest_server_ms = None
        self.history_clock = None
        self.history_refused = False
        self.history_tries = 0
        self.history_at = 0.0
        self.clock_wrong = False
        self.halted = False
        self.first = 0
        self.batch_ticks = BATCH_MAX_TICKS
        self.batch_klines = BATCH_MAX_KLINES
        self.reasons = {}
        self.counts = {"sent": 0, "accepted": 0, "minutes": 0, "stored": 0}
        self.newest_ms = 0
        self.connected_at = time.monotonic()
        self.save_at = time.monotonic() + SAVE_S
        self.report_at = time.monotonic() + REPORT_S

    # What the service has

    def ask(self, feed):
        """Asks what the service has. Ticks go on from the minute that is open; earlier minutes are sent as klines."""
        path = "/api/v1/ingest/state?" + urllib.parse.urlencode({"tickers": feed.ticker})
        status, state = self.service.call("GET", path)
        if status == 404 and not self.service.failures:
            say(
                f"ALERT The service has no instrument {feed.ticker}, or the key may not push it. Add it there, or give "
                f"{feed.symbol}=TICKER. Asked again in 10 minutes."
            )
            feed.ask_at = time.monotonic() + UNKNOWN_PAUSE_S
        if status != 200:
            return
        service_ms = state["server_time_msc"]
        if not self.clock_agrees(service_ms):
            feed.ask_at = time.monotonic() + REFUSED_PAUSE_S
            return
        settled_ms = service_ms % MINUTE_MS
        if settled_ms < SETTLE_MS:
            feed.ask_at = time.monotonic() + (SETTLE_MS - settled_ms) / 1000
            return
        open_ms = service_ms - settled_ms
        open_mark = open_ms + self.offset * 1000
        if 0 < feed.mark < open_mark:
            feed.note_gap(feed.mark // 1000 - self.offset)
        if feed.mark < open_mark:
            feed.mark, feed.skip = open_mark, 0
        self.history_tries = 0
        feed.due = not self.plan(feed, path, state, open_ms // 1000)

    def clock_agrees(self, service_ms):
        """Whether this computer and the service agree on the time: whoever stamps prices wrongly must not send them."""
        ahead_s = time.time() - service_ms / 1000
        wrong = abs(ahead_s) > CLOCK_MAX_ERROR_S
        if wrong and not self.clock_wrong:
            say(f"ALERT The clock of this computer is {ahead_s:.0f} seconds ahead of the service. Nothing is sent. Set the clock.")
        self.clock_wrong = wrong
        return not wrong

    def plan(self, feed, path, state, open_s):
        """Plans which minutes to send: those that the service lacks, and all since the gap. False without an answer."""
        feed.spans = []
        if self.options.days == 0:
            feed.gap = 0
            return True
        oldest = open_s - self.options.days * DAY_S
        gap = max(oldest, feed.gap or open_s)
        spans = [(gap, open_s)]
        for page in range(PAGES_MAX_COUNT):
            item = (state.get("items") or [{}])[0]
            # The service may have seen a part of the minutes before and after.
            missing = item.get("missing") or []
            spans += [(max(oldest, lacking["from"] - 60), min(gap, lacking["to"] + 60)) for lacking in missing]
            before = item.get("missing_before")
            if before is None or before <= oldest or page == PAGES_MAX_COUNT - 1:
                break
            status, state = self.service.call("GET", f"{path}&before={before}")
            if status != 200:
                return False
        feed.spans = sorted((first, to) for first, to in spans if first < to)
        return True

    # Time

    def find_offset(self):
        """Finds server time minus UTC from ticks that have just come. A new value counts when it is seen for a minute."""
        if self.options.offset is not None:
            return True
        ticks = [mt5.symbol_info_tick(feed.symbol) for feed in self.feeds if feed.selected]
        newest_ms = max((tick.time_msc for tick in ticks if tick is not None), default=0)
        is_new = self.newest_server_ms is not None and newest_ms > self.newest_server_ms
        self.newest_server_ms = max(newest_ms, self.newest_server_ms or 0)
        if not is_new:
            # Without a new tick nothing is to be sent; the last ones were sent with the known offset.
            return self.offset is not None and self.other is None
        seen = round((newest_ms / 1000 - time.time()) / OFFSET_STEP_S) * OFFSET_STEP_S
        if seen == self.offset:
            self.other = None
            return True
        if self.other is None or self.other[0] != seen:
            self.other = (seen, time.monotonic())
            say(f"Server time is {seen // 60} minutes ahead of UTC by the clock of this computer; checked again in a minute.")
            return False
        if time.monotonic() - self.other[1] < AGREE_S:
            return False
        self.offset, self.other, self.history_clock = seen, None, None
        say(f"Server time is {seen // 60} minutes ahead of UTC.")
        self.ask_for_all()
        return True

    def ask_for_all(self):
        for feed in self.feeds:
            feed.due = True

    def find_history_clock(self, feed):
        """The clock of past minutes; None while that is not known."""
        if self.history_clock is not None:
            return self.history_clock
        now = time.time()
        fixed = lambda utc_s: self.offset  # noqa: E731
        fitting = {name: clock for name, clock in CLOCKS.items() if clock(now) == self.offset}
        ready = True
        if self.options.history_clock == "fixed":
            self.history_clock = fixed
        elif self.options.history_clock != "auto":
            self.history_clock = fitting.get(self.options.history_clock)
        elif len(fitting) == 1:
            self.history_clock = next(iter(fitting.values()))
        elif fitting:
            self.history_clock, ready = self.clock_by_bars(feed)
        if self.history_clock is None and ready and not self.history_refused:
            self.history_refused = True
            say(
                f"ALERT The clock of past minutes is not known (server time is {self.offset // 60} minutes ahead of UTC now), "
                "so missing minutes are not filled. Give --history-clock."
            )
        return self.history_clock

    def clock_by_bars(self, feed):
        """Tells the two usual clocks apart by the weeks in which only one of Europe and the US has summer time.

        On the wrong clock, bars are in hours in which forex is closed.
        """
        now = int(time.time()) + self.offset
        bars = mt5.copy_rates_range(
            feed.symbol, mt5.TIMEFRAME_H1, server_datetime(now - CLOCK_EVIDENCE_DAYS * DAY_S), server_datetime(now)
        )
        if bars is None or len(bars) == 0:
            return None, False
        times = [int(bar["time"]) for bar in bars]
        differing = [at for at in times if past_utc(CLOCKS["eet"], at) != past_utc(CLOCKS["new-york+7"], at)]
        closed = {name: sum(is_weekend(past_utc(clock, at)) for at in differing) for name, clock in CLOCKS.items()}
        if closed["eet"] == closed["new-york+7"]:
            return (None if differing else CLOCKS["eet"]), True
        return CLOCKS[min(closed, key=closed.get)], True

    # Ticks

    def collect(self, feed, room):
        """The next ticks of a feed as lines, at most `room`."""
        start_s, extra = feed.mark // 1000, SECOND_TICKS_COUNT
        while True:
            count = feed.skip + room + extra
            ticks = mt5.copy_ticks_from(feed.symbol, server_datetime(start_s), count, mt5.COPY_TICKS_INFO)
            if ticks is None or len(ticks) == 0:
                return []
            # Only when all of them are of the past, more of the same second may follow.
            if int(ticks[-1]["time_msc"]) > feed.mark or len(ticks) < count or extra >= SECOND_TICKS_MAX_COUNT:
                break
            extra *= 10
        lines, passed = [], 0
        mark, skip = feed.mark, feed.skip
        for tick in ticks:
            at, bid, ask = int(tick["time_msc"]), float(tick["bid"]), float(tick["ask"])
            # From the last answered millisecond itself: several ticks share one.
            if at < feed.mark:
                continue
            if at == feed.mark and passed < feed.skip:
                passed += 1
                continue
            if len(lines) == room:
                break
            mark, skip = (at, skip + 1) if at == mark else (at, 1)
            if bid <= 0 or ask <= 0:
                continue
            utc_ms = at - self.offset * 1000
            feed.first_ms = feed.first_ms or utc_ms
            self.newest_ms = max(self.newest_ms, utc_ms)
            lines.append(
                f'{{"ticker":"{feed.ticker}","time_msc":{utc_ms},"bid":{bid:.{feed.digits}f},"ask":{ask:.{feed.digits}f}}}'
            )
        feed.next = (mark, skip)
        return lines

    def send_ticks(self):
        """Sends the next batch of ticks, of all symbols in turn."""
        lines = []
        for feed in self.feeds[self.first :] + self.feeds[: self.first]:
            feed.first_ms, feed.next = 0, (feed.mark, feed.skip)
            if feed.selected and not feed.due and len(lines) < self.batch_ticks:
                lines += self.collect(feed, self.batch_ticks - len(lines))
        self.first = (self.first + 1) % len(self.feeds)
        if not lines:
            # What was passed over was no quote.
            for feed in self.feeds:
                feed.advance()
            return
        status, receipt = self.service.call("POST", "/api/v1/ingest/ticks", "\n".join(lines) + "\n")
        if status == 413:
            self.batch_ticks = max(1, self.batch_ticks // 2)
        if status == 200:
            self.receive(receipt, len(lines))

    def receive(self, receipt, count):
        """Moves the marks past a batch, as its receipt says."""
        reasons = receipt.get("reasons", {})
        self.count_reasons(reasons, "")
        if reasons.get("in_future") == count:
            self.halted = True
            say(
                f"ALERT The service says that all ticks are in the future: server time minus {self.offset // 60} minutes is not "
                "UTC. Nothing more is sent. Check the clock of this computer or give --server-offset-minutes, then start again."
            )
            return
        for feed in self.feeds:
            feed.advance()
        self.counts["sent"] += count
        self.counts["accepted"] += receipt.get("accepted", 0)
        if "too_late" not in reasons:
            return
        # Their minutes were closed without them.
        open_ms = time.time() * 1000 // MINUTE_MS * MINUTE_MS
        for feed in self.feeds:
            if 0 < feed.first_ms < open_ms:
                feed.note_gap(feed.first_ms // 1000)
                feed.due = True

    def count_reasons(self, reasons, of):
        for reason, count in reasons.items():
            name = of + reason
            if name not in self.reasons:
                say(f"The service refused {count}: {name}. The next ones are counted.")
            self.reasons[name] = self.reasons.get(name, 0) + count

    # Minutes

    def send_minutes(self):
        """Sends the next minutes of the first feed that lacks some."""
        feed = next((feed for feed in self.feeds if feed.spans), None)
        if feed is None or time.monotonic() < self.history_at:
            return
        clock = self.find_history_clock(feed)
        if clock is None:
            self.history_at = time.monotonic() + HISTORY_PAUSE_S
            return
        first = feed.spans[0][0]
        end = first + self.batch_klines * 60
        bars = mt5.copy_rates_range(
            feed.symbol, mt5.TIMEFRAME_M1, server_datetime(first + clock(first)), server_datetime(end + clock(end))
        )
        # The first calls find nothing while the terminal loads its history.
        if (bars is None or len(bars) == 0) and self.history_tries < HISTORY_TRIES_MAX_COUNT:
            self.history_tries += 1
            self.history_at = time.monotonic() + HISTORY_PAUSE_S
            return
        self.history_tries = 0
        timed = [(past_utc(clock, int(bar["time"])), bar) for bar in (bars if bars is not None else [])]
        lines = [
            kline_line(feed, at, bar)
            for at, bar in timed
            if at < end and any(start <= at < to for start, to in feed.spans)
        ]
        if lines:
            status, receipt = self.service.call("POST", "/api/v1/ingest/klines?replace=gaps", "\n".join(lines) + "\n")
            if status == 413:
                self.batch_klines = max(1, self.batch_klines // 2)
            if status != 200:
                return
            self.counts["minutes"] += len(lines)
            self.counts["stored"] += receipt.get("accepted", 0)
            self.count_reasons(receipt.get("reasons", {}), "minutes: ")
        feed.done(end)

    # Every turn

    def select_symbols(self):
        """Symbols that are not in Market Watch have no ticks. One may appear later."""
        now = time.monotonic()
        for feed in self.feeds:
            if feed.selected or now < feed.select_at:
                continue
            info = mt5.symbol_info(feed.symbol) if mt5.symbol_select(feed.symbol, True) else None
            if info is not None:
                feed.selected, feed.digits, feed.point = True, info.digits, info.point
                continue
            if not feed.missed:
                say(f"ALERT The terminal has no symbol {feed.symbol}. Write it as in Market Watch. Tried again every minute.")
            feed.missed, feed.select_at = True, now + AWAY_S

    def report(self):
        counts, refused = self.counts, ", ".join(f"{name} {count}" for name, count in self.reasons.items())
        parts = [
            f"{len(self.feeds)} symbols; ticks: {counts['sent']} sent, {counts['accepted']} accepted",
            f"minutes: {counts['minutes']} sent, {counts['stored']} accepted",
            *([f"refused: {refused}"] if refused else []),
            f"server time {'?' if self.offset is None else self.offset // 60} minutes ahead of UTC",
            *([f"newest tick {time.time() - self.newest_ms / 1000:.0f} s old"] if self.newest_ms else []),
        ]
        say("; ".join(parts) + ".")

    def turn(self):
        now = time.monotonic()
        if now >= self.save_at:
            self.save_at = now + SAVE_S
            self.save()
        if now >= self.report_at:
            self.report_at = now + REPORT_S
            self.report()
        terminal = mt5.terminal_info()
        if terminal is None or not terminal.connected:
            return
        # This computer slept, the broker was not there, or the service does not answer.
        if now - self.connected_at > AWAY_S or self.service.away():
            self.ask_for_all()
        self.connected_at = now
        if self.halted or now < self.service.wait_until:
            return
        self.select_symbols()
        if not self.find_offset():
            return
        asking = next((feed for feed in self.feeds if feed.due and feed.selected and now >= feed.ask_at), None)
        if asking is not None:
            self.ask(asking)
            return
        self.send_ticks()
        if self.service.failures == 0 and not self.halted:
            self.send_minutes()

    def save(self):
        kept = {feed.symbol: feed.marks() for feed in self.feeds}
        new = self.options.marks + ".new"
        with open(new, "w", encoding="utf-8") as file:
            json.dump({**kept, "offset": self.offset}, file)
        os.replace(new, self.options.marks)

    def run(self):
        say(f"Sends {len(self.feeds)} symbols to {self.options.url}.")
        try:
            while True:
                started = time.monotonic()
                self.turn()
                time.sleep(max(0, self.options.interval - (time.monotonic() - started)))
        except KeyboardInterrupt:
            say("Stopped.")
        finally:
            self.save()


def kline_line(feed, at, bar):
    """One line of a batch of klines. Bars are of bid prices; their spread is in points."""
    prices = ",".join(f'"{name}":{float(bar[name]):.{feed.digits}f}' for name in ("open", "high", "low", "close"))
    spread = int(bar["spread"])
    tail = f',"spread":{spread * feed.point:.{feed.digits}f}' if spread > 0 else ""
    return f'{{"ticker":"{feed.ticker}","time":{at},{prices},"tick_volume":{int(bar["tick_volume"])}{tail}}}'


def read_marks(file):
    try:
        with open(file, encoding="utf-8") as kept:
            marks = json.load(kept)
        return marks if isinstance(marks, dict) else {}
    except FileNotFoundError:
        return {}
    except ValueError:
        say(f"{file} is damaged: starting without it.")
        return {}


# Start --------------------------------------------------------------------------------------------------------------------


def read_symbols(text):
    """Reads "EURUSD,GOLD.pro=XAUUSD"."""
    symbols = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        symbol, _, named = part.partition("=")
        ticker = named or symbol
        if not re.fullmatch(r"[A-Z0-9]{3,20}", ticker):
            raise argparse.ArgumentTypeError(f"{ticker} is not a ticker (capital letters and digits). Write SYMBOL=TICKER")
        symbols.append((symbol, ticker))
    if not 0 < len(symbols) <= SYMBOLS_MAX_COUNT:
        raise argparse.ArgumentTypeError(f"give 1 to {SYMBOLS_MAX_COUNT} symbols")
    return symbols


def read_url(text):
    """HTTPS, or this machine."""
    parts = urllib.parse.urlsplit(text)
    is_local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1")
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise argparse.ArgumentTypeError("must begin with https://. Plain http:// is for localhost only")
    return text.rstrip("/")


def within(low, high):
    def read(text):
        number = int(text)
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"must be between {low} and {high}")
        return number

    return read


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", type=read_url, default="http://localhost:3000", help="address of the service")
    parser.add_argument("--symbols", type=read_symbols, required=True, help="symbols; SYMBOL=TICKER where the names differ")
    parser.add_argument("--server-offset-minutes", type=within(-840, 840), help="server time minus UTC; found out by default")
    parser.add_argument("--history-clock", choices=["auto", *CLOCKS, "fixed"], default="auto", help="clock of past minutes")
    parser.add_argument("--interval-ms", type=within(250, 60_000), default=250, help="pause between two batches")
    parser.add_argument("--catch-up-days", type=within(0, 39), default=30, dest="days", help="days to fill; 0: none")
    parser.add_argument("--marks", default="spotwire_marks.json", help="file that keeps how far each symbol is sent")
    options = parser.parse_args()
    options.key = os.environ.get("SPOTWIRE_KEY", "")
    if not options.key.startswith("sw_live_"):
        parser.error("set the variable SPOTWIRE_KEY to a key of the live venue (sw_live_...) with the scope market:ingest")
    minutes = options.server_offset_minutes
    options.offset = None if minutes is None else minutes * 60
    options.interval = options.interval_ms / 1000
    return options


def main():
    options = read_options()
    if not mt5.initialize():
        sys.exit(f"The terminal does not answer: {mt5.last_error()}. Start MetaTrader 5 and log in.")
    try:
        Feeder(options).run()
    finally:
        mt5.shutdown()


if __name__ == "__main__":
    main()
