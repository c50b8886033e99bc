import type { Clock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import type { Catalogue } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { repeat } from "#lib/repeat";
import { beginWork, recordsWork } from "#lib/spans";
import { SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { type Feed, type FeedLife, type FeedStart, Refused, Upset } from "../feed";
import { hide, problemOf } from "./hide";
import { createLife, type Life } from "./life";
import type { Link, OddReason, Offered, Received, Step, Upstream } from "./port";
import { createPriceSilence, type Lacking, type PriceSilence } from "./price-silence";
import type { Repair } from "./repair";
import type { UpstreamWatch } from "./state";
import { type Matched, matchSymbols } from "./symbols";

/** The longest wait for the list of instruments, shorter than any source may be silent. */
const INSTRUMENTS_MAX_MS = 8 * SECOND_MS;
/** How much of a message that was not used a log shows. */
const ODD_TEXT_MAX_CHARACTERS = 200;
/** How many tickers a log line names. */
const NAMED_MAX_COUNT = 10;
/** How often it is looked whether prices still come. */
const PRICES_LOOK_MS = SECOND_MS;
/** A batch that is taken for longer delays the ones behind it: meanwhile no silence is counted. */
const TAKING_USUAL_MS = SECOND_MS;
/** How often the clocks are compared. */
const CLOCK_LOOK_MS = 10 * SECOND_MS;

interface RunnerOptions {
  readonly upstream: Upstream;
  readonly listings: () => readonly Listing[];
  readonly calendarOf: Catalogue["calendar"];
  /** Symbols that the operator chose, by ticker. */
  readonly named: ReadonlyMap<string, string>;
  /** Keeps what is known of it. */
  readonly watch: UpstreamWatch;
  readonly metrics: Pick<Metrics, "upstreamMessages" | "quarantined">;
  readonly connected?: FeedStart["connected"];
  readonly clock: Clock;
  readonly log: Logger;
  /** Learns when prices come, when they no longer do, and since when minutes may lack ticks. */
  readonly repair?: Pick<Repair, "live" | "lost" | "since"> | undefined;
  readonly lacks?: FeedStart["lacks"];
  /** Learns while prices come, and what was received is taken. */
  readonly life?: FeedLife | undefined;
}

interface SilenceOptions extends Pick<RunnerOptions, "upstream" | "clock" | "life"> {
  readonly prices: PriceSilence;
}

/**
 * Ends a connection on which nothing came for too long, or no prices while its markets are open. While a batch is taken, nothing is
 * read, so no silence is counted.
 */
function watchSilence({ upstream, clock, life, prices }: SilenceOptions, signal: AbortSignal) {
  const { idleMs } = upstream.declares;
  const cut = new AbortController();
  const over = new AbortController();
  let heardMs = clock.now();
  let takingMs: number | null = null;
  let pricesDue = false;
  const stop = () => over.abort();
  signal.addEventListener("abort", stop, { once: true });

  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      const left = takingMs !== null ? idleMs : heardMs + idleMs - clock.now();
      if (left <= 0) return cut.abort(new Upset(`silent for ${Math.round(idleMs / SECOND_MS)} s`, { kind: "silent" }));
      await clock.wait(left, over.signal);
    }
  }

  function look(): void {
    if (!pricesDue || takingMs !== null || cut.signal.aborted) return;
    const { cut: reason, silent } = prices.look(clock.now());
    for (const { ticker, sinceMs } of silent) life?.lost(ticker, sinceMs);
    if (reason !== null) cut.abort(new Upset(reason, { kind: "quiet" }));
  }

  void watch();
  void repeat({ clock, signal: over.signal, pause: PRICES_LOOK_MS }, look);
  return {
    /** Aborts when the connection must end. */
    signal: AbortSignal.any([signal, cut.signal]),
    /** Prices may come from now on. */
    expectPrices() {
      pricesDue = true;
    },
    alive() {
      heardMs = clock.now();
    },
    take(now: boolean) {
      const nowMs = clock.now();
      if (takingMs !== null && nowMs - takingMs > TAKING_USUAL_MS) prices.reads(nowMs);
      takingMs = now ? nowMs : null;
      heardMs = nowMs;
    },
    /** The silence that ended the connection, if it was one. */
    problem: (): unknown => (cut.signal.aborted ? cut.signal.reason : undefined),
    stop() {
      signal.removeEventListener("abort", stop);
      over.abort();
    },
  };
}

/** Remembers since when ticks lack, until prices come again. */
function createHoles({ repair, lacks, clock }: Pick<RunnerOptions, "repair" | "lacks" | "clock">) {
  let open: readonly Lacking[] = [];

  function close(): void {
    const nowMs = clock.now();
    for (const { ticker, sinceMs } of open) lacks?.(ticker, sinceMs, nowMs);
    open = [];
  }

  return {
    close,
    /** Prices come again on a connection that was quiet: what was repaired when it began ends before now. */
    ended(): void {
      if (open.length > 0) repair?.since(Math.min(...open.map(({ sinceMs }) => sinceMs)));
      close();
    },
    /** The connection ended. */
    lost(lacking: readonly Lacking[]): void {
      // Of losses before prices come again, the first one counts.
      if (open.length === 0) open = lacking;
      repair?.lost(Math.min(clock.now(), ...lacking.map(({ sinceMs }) => sinceMs)));
    },
    /** Prices of these come again on a connection that went on. */
    resumed(lacking: readonly Lacking[]): void {
      const nowMs = clock.now();
      for (const { ticker, sinceMs } of lacking) lacks?.(ticker, sinceMs, nowMs);
      if (lacking.length > 0) repair?.since(Math.min(...lacking.map(({ sinceMs }) => sinceMs)));
    },
  };
}

/** Turns what was received into ticks; keeps the other side where a message holds only one. */
function createTranslator({ upstream, metrics, clock }: RunnerOptions, { bySymbol }: Matched, odd: Link["odd"]) {
  const { sides, clock: stamped } = upstream.declares;
  const books = new Map<string, { bid: number | null; ask: number | null }>();

  return function translate({ symbol, timeMs, bid, ask, doubt }: Received): Tick | null {
    const listing = bySymbol.get(symbol);
    if (listing === undefined) {
      odd("unknown_symbol", symbol);
      return null;
    }
    if (doubt !== undefined) {
      metrics.quarantined(upstream.name, "not_a_quote");
      return null;
    }
    let quote = { bid, ask };
    if (sides === "changed") {
      const before = books.get(symbol);
      quote = { bid: bid ?? before?.bid ?? null, ask: ask ?? before?.ask ?? null };
      books.set(symbol, quote);
    }
    // One side alone is no quote; where sides come one by one, the other is on its way.
    if (quote.bid === null || quote.ask === null) {
      if (sides === "both") odd("no_price", symbol);
      return null;
    }
    const time = stamped === "none" ? clock.now() : timeMs;
    if (!Number.isFinite(time)) {
      odd("no_time", symbol);
      return null;
    }
    return { ticker: listing.ticker, time_msc: Math.floor(time), bid: quote.bid, ask: quote.ask };
  };
}

/** Counts messages that were not used, and logs the first of each reason, without secrets. */
function createOddLog({ upstream, watch, metrics, log }: RunnerOptions): Link["odd"] {
  const seen = new Set<OddReason>();
  return (reason, text) => {
    metrics.upstreamMessages(upstream.name, reason, 1);
    const first = !seen.has(reason);
    const shown = first ? hide(upstream, text).slice(0, ODD_TEXT_MAX_CHARACTERS) : "";
    watch.odd(reason, shown);
    if (!first) return;
    seen.add(reason);
    log.warn({ feed: upstream.name, reason, text: shown }, "feed sent a message that was not used");
  };
}

/** The error that ended a connection, without secrets: neither its stack nor its cause is kept, which may repeat them. */
function withoutSecrets(upstream: Upstream, error: unknown): Refused | Upset {
  const text = problemOf(upstream, error);
  if (error instanceof Refused) return new Refused(text);
  return new Upset(text, error instanceof Upset ? { retryAfterMs: error.retryAfterMs, kind: error.kind } : {});
}

async function offeredBy({ upstream, watch, clock, listings, named }: RunnerOptions, signal: AbortSignal): Promise<Matched> {
  if (upstream.instruments === undefined) {
    const offered = listings().map((listing): Offered => ({ symbol: upstream.symbolOf?.(listing) ?? listing.ticker }));
    const chosen = [...named.values()].map((symbol) => ({ symbol }));
    const matched = matchSymbols(listings(), [...offered, ...chosen], named);
    watch.matched(matched, [], clock.now());
    return matched;
  }
  const over = new AbortController();
  try {
    const asked = upstream.instruments({ signal: AbortSignal.any([signal, over.signal]), clock });
    const offered = await withTimeout(asked, INSTRUMENTS_MAX_MS, clock, signal);
    const matched = matchSymbols(listings(), offered, named);
    watch.matched(matched, offered, clock.now());
    return matched;
  } finally {
    over.abort();
  }
}

function reportSymbols({ upstream, log }: RunnerOptions, { bySymbol, missing }: Matched): void {
  const { name, declares } = upstream;
  log.info({ feed: name, tickers: bySymbol.size, terms: declares.terms.url }, `feed found its symbols. ${declares.terms.text}`);
  if (declares.clock === "none") log.warn({ feed: name }, "feed sends no times; its ticks get the time at which they arrive");
  if (missing.length === 0) return;
  const some = missing.slice(0, NAMED_MAX_COUNT).map(({ ticker, reason }) => `${ticker}: ${reason}`);
  log.warn({ feed: name, missing: missing.length, some }, "feed does not offer these tickers");
}

/** Warns once when the clocks of source and server differ too much, and says so when they no longer do. */
function createClockLog({ upstream, watch, log }: RunnerOptions): (nowMs: number) => void {
  let off = false;
  let lookMs = 0;
  return (nowMs) => {
    if (nowMs < lookMs) return;
    lookMs = nowMs + CLOCK_LOOK_MS;
    const offsetMs = watch.clockProblem(nowMs);
    if ((offsetMs !== null) === off) return;
    off = offsetMs !== null;
    const fields = { feed: upstream.name, offset_ms: offsetMs };
    if (off) log.warn(fields, "the clocks of the feed and of this server differ; check this server's clock");
    else log.info(fields, "the clocks of the feed and of this server agree again");
  };
}

/** Records an attempt to connect, from its start until prices come or the first call with a problem; later calls do nothing. */
function traceConnecting({ name }: Upstream): (problem?: { code: string }) => void {
  if (!recordsWork()) return () => undefined;
  let end: ReturnType<typeof beginWork> | undefined = beginWork({
    name: "feed connect",
    kind: "client",
    attributes: { "spotwire.feed": name },
  });
  return (problem) => {
    end?.(problem);
    end = undefined;
  };
}

/**
 * Makes a feed of an upstream: connects once, finds the symbols, turns what is received into ticks, and ends a silent connection by
 * its own timer. It throws Refused or Upset when the connection ends; the supervisor connects again.
 */
export function upstreamFeed(options: RunnerOptions): Feed {
  const { upstream, watch, metrics, connected, clock, log } = options;
  const odd = createOddLog(options);
  const compareClocks = createClockLog(options);
  const prices = createPriceSilence(options.calendarOf, clock.now());
  const holes = createHoles(options);

  async function* connection(
    signal: AbortSignal,
    silence: ReturnType<typeof watchSilence>,
    life: Life,
    connecting: () => void,
  ): AsyncGenerator<readonly Tick[]> {
    let isLive = false;
    const step = (name: Step) => {
      isLive = name === "live";
      if (isLive) connecting();
      log.debug({ feed: upstream.name, step: name }, "feed step");
      life.step(name);
      watch.step(name, clock.now());
      if (name !== "live") return;
      if (!prices.isQuiet()) connected?.();
      options.repair?.live(matched);
    };
    const alive = () => {
      silence.alive();
      life.alive();
      watch.received(clock.now());
    };
    step("connecting");
    const matched = await offeredBy(options, signal);
    if (matched.bySymbol.size === 0) throw new Refused("it offers none of the instruments of this venue");
    reportSymbols(options, matched);
    const translate = createTranslator(options, matched, odd);
    const link: Link = { signal: silence.signal, clock, step, alive, odd };
    silence.alive();
    // Not from the step "live" on: some sources confirm a subscription only by its prices.
    prices.begin([...matched.bySymbol.values()], clock.now());
    silence.expectPrices();
    for await (const received of upstream.stream([...matched.bySymbol.keys()], link)) {
      const ticks = received.map(translate).filter((tick) => tick !== null);
      if (ticks.length === 0) continue;
      // Some sources do not confirm a subscription, or do so late.
      if (!isLive) step("live");
      const nowMs = clock.now();
      const wasQuiet = prices.isQuiet();
      const { fresh, resumed } = prices.ticks(ticks, nowMs);
      // The last price again, as many sources send it first, does not end a silence.
      if (wasQuiet && !fresh) continue;
      if (wasQuiet) {
        connected?.();
        holes.ended();
      } else if (fresh) holes.close();
      holes.resumed(resumed);
      watch.ticks(ticks, nowMs);
      metrics.upstreamMessages(upstream.name, "tick", ticks.length);
      compareClocks(nowMs);
      yield ticks;
    }
    throw new Upset("the connection ended");
  }

  return async function* run(signal) {
    const silence = watchSilence({ ...options, prices }, signal);
    const life = createLife(upstream, prices, clock, options.life);
    const connecting = traceConnecting(upstream);
    try {
      for await (const ticks of connection(signal, silence, life, connecting)) {
        for (const { take } of [silence, life]) take(true);
        yield ticks;
        for (const { take } of [silence, life]) take(false);
      }
    } catch (error) {
      const problem = silence.problem() ?? error;
      if (!signal.aborted) connecting({ code: problem instanceof Upset ? problem.kind : "refused" });
      if (!signal.aborted) throw withoutSecrets(upstream, problem);
    } finally {
      silence.stop();
      connecting();
      const lacking = prices.lacking(clock.now());
      life.lost(lacking);
      holes.lost(lacking);
      if (signal.aborted) watch.stopped(clock.now());
    }
  };
}
