"""What spotwire_feeder.py uses of the package MetaTrader5: a terminal whose market comes from files, in virtual time.

Importing it replaces the clocks of this process. Settings come from FAKE_TERMINAL (JSON): ticks, bars, zone, start, end, clockError.
"""

import bisect
import http.client
import json
import os
import time
from collections import namedtuple

SETTINGS = json.loads(os.environ["FAKE_TERMINAL"])
COPY_TICKS_INFO = 1
TIMEFRAME_M1, TIMEFRAME_H1 = 1, 60
# A round trip takes so long where the service does not say; a request without an answer is given up after this real time.
ROUND_TRIP_MS = 20
SILENCE_S = 1

Tick = namedtuple("Tick", "time_msc bid ask")
Symbol = namedtuple("Symbol", "digits point")
Terminal = namedtuple("Terminal", "connected")

now_ms = SETTINGS["start"]
ticks_of, bars_of, digits_of = {}, {}, {}

for line in open(SETTINGS["ticks"], encoding="utf-8"):
    symbol, at, bid, ask, flags, arrives = line.strip().split(",")
    row = {"time": int(at) // 1000, "bid": float(bid), "ask": float(ask), "time_msc": int(at), "flags": int(flags)}
    ticks_of.setdefault(symbol, []).append((int(arrives), row))
    digits_of[symbol] = len(bid.partition(".")[2])
for line in open(SETTINGS["bars"], encoding="utf-8"):
    symbol, minutes, at, *prices, volume, spread = line.strip().split(",")
    row = dict(zip(("open", "high", "low", "close"), map(float, prices)))
    bars_of.setdefault((symbol, int(minutes)), []).append({**row, "time": int(at), "tick_volume": int(volume), "spread": int(spread)})
    digits_of[symbol] = len(prices[0].partition(".")[2])


def offset():
    zone = [part for part in SETTINGS["zone"] if part[0] <= now_ms / 1000] or SETTINGS["zone"][:1]
    return zone[-1][1]


def server_ms():
    return now_ms + offset() * 1000


def initialize():
    return True


def shutdown():
    pass


def last_error():
    return (1, "Success")


def terminal_info():
    return Terminal(connected=True)


def symbol_select(symbol, enable):
    return symbol in digits_of


def symbol_info(symbol):
    return Symbol(digits_of[symbol], 10.0 ** -digits_of[symbol])


def arrived(symbol):
    """How many ticks have arrived; they come in order."""
    return bisect.bisect_right(ticks_of.get(symbol, []), server_ms(), key=lambda tick: tick[0])


def symbol_info_tick(symbol):
    count = arrived(symbol)
    last = ticks_of[symbol][count - 1][1] if count else None
    return Tick(last["time_msc"], last["bid"], last["ask"]) if last else None


def copy_ticks_from(symbol, date_from, count, flags):
    ticks = ticks_of.get(symbol, [])
    first = bisect.bisect_left(ticks, int(date_from.timestamp()) * 1000, key=lambda tick: tick[1]["time_msc"])
    return [row for _, row in ticks[first : arrived(symbol)]][:count]


def copy_rates_range(symbol, timeframe, date_from, date_to):
    first, last = date_from.timestamp(), min(date_to.timestamp(), server_ms() / 1000)
    return [bar for bar in bars_of.get((symbol, timeframe), []) if first <= bar["time"] <= last]


# Virtual time: it passes while the feeder sleeps and asks.


def sleep(seconds):
    global now_ms
    now_ms += max(1, round(seconds * 1000))
    if now_ms >= SETTINGS["end"]:
        raise KeyboardInterrupt


time.time = lambda: now_ms / 1000 + SETTINGS.get("clockError", 0)
time.monotonic = lambda: (now_ms - SETTINGS["start"]) / 1000 + 1000
time.sleep = sleep

connect, end_headers, begin = http.client.HTTPConnection.connect, http.client.HTTPConnection.endheaders, http.client.HTTPResponse.begin


def hasty_connect(connection):
    connection.timeout = SILENCE_S
    connect(connection)


def dated_headers(connection, *body, **options):
    global now_ms
    now_ms += ROUND_TRIP_MS
    connection.putheader("X-Virtual-Now", str(now_ms))
    end_headers(connection, *body, **options)


def dated_answer(response):
    global now_ms
    begin(response)
    now_ms = max(now_ms, int(response.getheader("x-virtual-now", 0)))


http.client.HTTPConnection.connect = hasty_connect
http.client.HTTPConnection.endheaders = dated_headers
http.client.HTTPResponse.begin = dated_answer
