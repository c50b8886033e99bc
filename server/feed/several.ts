import type { Clock } from "#lib/clock";
import { TICK_MAX_AHEAD_MS } from "#lib/contract/limits";
import { DIVERGENT_LISTED_COUNT, type PrecedenceChange, type PrecedenceReport } from "#lib/contract/portal-feeds";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import type { Catalogue } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { repeat } from "#lib/repeat";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { type ChangeGroup, createChangeLog } from "./change-log";
import { createDivergence } from "./divergence";
import { EVERY_TICKER, type FeedStart, type MarketFeed, PUSH } from "./feed";
import { createHandOff } from "./hand-off";
import { createPrecedence } from "./precedence";
import { superviseFeed } from "./supervise";
import type { Provider } from "./upstream/provider";
import type { Repair } from "./upstream/repair";

const LOOK_MS = SECOND_MS;
/** So long before a change, minutes may still wait to be mended by the former provider, which no longer will. */
const UNMENDED_MAX_MS = HOUR_MS;

interface SeveralOptions {
  /** In order of precedence; null stands for pushed ticks. */
  readonly members: readonly (Provider | null)[];
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "upstreamChanged" | "precedence">;
  /** Reads which provider an operator prefers, null for none. */
  readonly pin: () => Promise<string | null>;
  /** Keeps a change of a provider in the audit log. */
  readonly record: (change: PrecedenceChange) => Promise<void>;
}

const nameOf = (member: Provider | null): string => member?.name ?? PUSH;

/** A tick that an engine can take: one with another time does not show that its provider is well. */
const isOfNow = ({ time_msc, bid, ask }: Tick, nowMs: number) =>
  bid > 0 && ask >= bid && time_msc > nowMs - MINUTE_MS && time_msc <= nowMs + TICK_MAX_AHEAD_MS;

/** Who is in force, by ticker; EVERY_TICKER names who is for most, and those with the same are absent. */
function sharedOf(tickers: readonly string[], inForce: (ticker: string) => string | undefined): Record<string, string> {
  const names = tickers.map((ticker) => [ticker, inForce(ticker) ?? ""] as const);
  const counts = new Map<string, number>();
  for (const [, name] of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [most = ""] = [...counts].sort(([, one], [, other]) => other - one).map(([name]) => name);
  return Object.fromEntries([[EVERY_TICKER, most], ...names.filter(([, name]) => name !== most)]);
}

/** Who mends minutes of a venue. */
function createMenders(members: SeveralOptions["members"], offers: (name: string, ticker: string) => boolean) {
  const repairs = new Map<string, Repair>();

  /** Who mends the minutes of a ticker: its provider in force, or else the first provider with a history. */
  function of(ticker: string, inForce: string | undefined): string | undefined {
    const able = members.flatMap((member) => (member?.hasHistory && offers(member.name, ticker) ? [member.name] : []));
    return able.find((name) => name === inForce) ?? able[0];
  }

  return {
    repairs,
    of,
    /** The minute of a change lacks ticks. With a first provider, another one may have to mend what was missing before. */
    changed({ from, to, tickers, wellMs }: ChangeGroup): void {
      const suspect = [...tickers].filter((ticker) => from !== undefined || of(ticker, to) !== of(ticker, from));
      for (const name of new Set(suspect.map((ticker) => of(ticker, to) ?? "")))
        repairs.get(name)?.since(from === undefined ? null : wellMs - UNMENDED_MAX_MS);
    },
  };
}

function reportChange({ log, metrics, record }: SeveralOptions, { at, ...change }: PrecedenceChange): void {
  metrics.upstreamChanged(change.to, change.reason, change.tickers);
  if (change.reason === "first") {
    log.info(change, "feed speaks for these tickers");
    return;
  }
  log.warn(change, "another feed speaks for these tickers");
  record({ at, ...change }).catch((error: unknown) => log.error({ err: error }, "cannot record a change of the feed"));
}

/** What is wrong with each provider. The venue fails when every provider does; pushes never do. */
function createProblems(members: SeveralOptions["members"], { failing, connected }: FeedStart) {
  const problems = new Map<string, string | null>();
  return {
    turn(name: string, problem: string | null): void {
      if (problems.get(name) === problem) return;
      problems.set(name, problem);
      const texts = members.flatMap((member) => problems.get(nameOf(member)) ?? []);
      if (texts.length === members.length) failing?.(texts.join("; "));
      else connected();
    },
  };
}

/** The provider that an operator prefers. */
function createPin({ members, pin, clock, log }: SeveralOptions, prefer: (name: string | null, nowMs: number) => void) {
  async function changed(): Promise<void> {
    const name = await pin();
    const isMember = members.some((member) => nameOf(member) === name);
    if (name !== null && !isMember) log.warn({ feed: name }, "the pinned feed is not in LIVE_FEED; nothing is pinned");
    prefer(isMember ? name : null, clock.now());
  }

  return {
    changed,
    /** Reads it once, as soon as that is possible. */
    async read(signal: AbortSignal): Promise<void> {
      let isRead = false;
      const onError = (error: unknown, failures: number) => {
        if (failures === 1) log.warn({ err: error }, "cannot read which feed is pinned; retrying");
      };
      await repeat({ clock, signal, pause: LOOK_MS, atOnce: true, until: () => isRead, onError }, async () => {
        await changed();
        isRead = true;
      });
    },
  };
}

/** Makes one run of several providers: who is in force, who mends, and which minutes are watched. */
function createRun(options: SeveralOptions, start: FeedStart) {
  const { members, catalogue, clock, log } = options;
  const { life } = start;
  const divergence = createDivergence();
  const handOff = createHandOff<readonly Tick[]>();
  let shared: Readonly<Record<string, string>> | undefined;

  const tickers = () => catalogue.list().map(({ ticker }) => ticker);

  const precedence = createPrecedence({
    members: members.map((member) => ({ name: nameOf(member), connects: member !== null })),
    openSince(ticker, nowMs) {
      const session = catalogue.calendar(ticker)?.sessionAt(nowMs);
      return session?.state === "open" ? (session.openedAt ?? 0) : null;
    },
    changed(change) {
      // The first provider has nobody before it; one that was quiet has brought nothing since it was well.
      if (change.from !== undefined) life?.lost(change.ticker, change.wellMs);
      changes.add(change);
      shared = undefined;
    },
    nowMs: clock.now(),
  });
  const { inForce } = precedence;
  const menders = createMenders(members, precedence.offers);
  const problems = createProblems(members, start);
  const pin = createPin(options, precedence.pin);
  const changes = createChangeLog(clock, (change, group) => {
    menders.changed(group);
    reportChange(options, change);
  });

  function look(): void {
    const nowMs = clock.now();
    shared = undefined;
    precedence.look(tickers(), nowMs);
    for (const { ticker, digits } of catalogue.list()) {
      const present = inForce(ticker);
      for (const name of divergence.look(ticker, present, 10 ** -digits, nowMs))
        log.warn({ ticker, feed: name, speaks: present }, "the prices of two feeds differ by more than ten spreads");
    }
    changes.flush();
  }

  /** Notes ticks of a provider. @returns those for which it is in force */
  function take(name: string, ticks: readonly Tick[]): readonly Tick[] {
    const atMs = clock.now();
    return ticks.filter((tick) => {
      const { ticker, bid, ask } = tick;
      const isNow = isOfNow(tick, atMs);
      if (isNow) divergence.tick(name, ticker, { bid, ask, atMs });
      const isTaken = isNow ? precedence.tick(name, ticker, atMs) : inForce(ticker) === name;
      if (!isTaken) start.standby?.(tick, name);
      return isTaken;
    });
  }

  function open(provider: Provider, signal: AbortSignal): Promise<void> {
    const { name, lost } = provider;
    const { feed, repair } = provider.open({
      ...(start.mend && { mend: start.mend }),
      connected: () => problems.turn(name, null),
      follower: {
        live({ bySymbol }) {
          precedence.live(name, new Set([...bySymbol.values()].map(({ ticker }) => ticker)), clock.now());
          precedence.look(tickers(), clock.now());
        },
        lost: () => precedence.lost(name, clock.now()),
      },
      // The minutes of a ticker are watched as far as its provider in force lives.
      life: {
        alive(ticker, atMs, silenceMaxMs) {
          if (inForce(ticker) === name && atMs >= precedence.since(ticker)) life?.alive(ticker, atMs, silenceMaxMs);
        },
        lost(ticker, sinceMs) {
          if (inForce(ticker) === name) life?.lost(ticker, sinceMs);
        },
      },
      lacks(ticker, fromMs, toMs) {
        if (inForce(ticker) === name) start.lacks?.(ticker, fromMs, toMs);
      },
      mends: (ticker) => menders.of(ticker, inForce(ticker)) === name,
    });
    if (repair) menders.repairs.set(name, repair);
    const taken = async (ticks: readonly Tick[]) => {
      const passed = take(name, ticks);
      if (passed.length > 0) await handOff.put(passed);
    };
    const onState = (problem: string | null) => problems.turn(name, problem);
    return superviseFeed({ feed, name, take: taken, onState, onLost: lost, clock, log }, signal);
  }

  return {
    take,
    pinChanged: pin.changed,
    inForce,
    pinned: precedence.pinned,
    divergent: divergence.list,
    changes: changes.list,
    shared: () => (shared ??= sharedOf(tickers(), inForce)),
    async *run(signal: AbortSignal): AsyncGenerator<readonly Tick[]> {
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      const running = members.flatMap((member) => (member === null ? [] : [open(member, either)]));
      running.push(repeat({ clock, signal: either, pause: LOOK_MS, atOnce: true }, look), pin.read(either));
      try {
        yield* handOff.read(signal);
      } finally {
        over.abort();
        await Promise.all(running);
        changes.end();
      }
    },
  };
}

/**
 * One feed of several providers, of which one at a time is in force for each ticker; pushed ticks may be one of them. All are connected
 * and watched; only what the provider in force says is taken.
 */
export function severalFeed(options: SeveralOptions): MarketFeed {
  const { members, catalogue, metrics } = options;
  const names = members.map(nameOf);
  let current: ReturnType<typeof createRun> | undefined;

  function report(): PrecedenceReport {
    const inForce = catalogue.list().map(({ ticker }) => current?.inForce(ticker));
    const divergent = current?.divergent() ?? [];
    return {
      providers: names.map((name) => ({
        name,
        speaks: inForce.filter((one) => one === name).length,
        divergent: divergent.filter((one) => one.name === name).length,
      })),
      waiting: inForce.filter((one) => one === undefined).length,
      pinned: current?.pinned() ?? null,
      changes: current?.changes() ?? [],
      divergent: divergent
        .slice(0, DIVERGENT_LISTED_COUNT)
        .map(({ sinceMs, ...one }) => ({ ...one, since: new Date(sinceMs).toISOString() })),
    };
  }

  metrics.precedence(report);
  return {
    name: names.join(","),
    keepsTime: false,
    open(start) {
      const run = createRun(options, start);
      return async function* feed(signal) {
        current = run;
        try {
          yield* run.run(signal);
        } finally {
          if (current === run) current = undefined;
        }
      };
    },
    providers: () => members.flatMap((member) => (member === null ? [] : [member.report()])),
    offers: (ticker) => members.some((member) => member?.offers(ticker)),
    choice: {
      providerOf: (ticker) => current?.inForce(ticker),
      inForce: () => current?.shared() ?? {},
      // What no venue lists is refused as such, not because of who pushes it.
      pushed: (tick) => catalogue.find(tick.ticker) === undefined || current?.take(PUSH, [tick]).length === 1,
      pinChanged: async () => current?.pinChanged(),
      report,
    },
  };
}
