import type { Clock } from "#lib/clock";
import { TICK_MAX_AHEAD_MS } from "#lib/contract/limits";
import { DIVERGENT_LISTED_COUNT, type PrecedenceChange, type PrecedenceReport } from "#lib/contract/portal-feeds";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import type { Catalogue } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { repeat } from "#lib/repeat";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { createChangeLog } from "./change-log";
import { createDivergence } from "./divergence";
import { EVERY_TICKER, type FeedStart, PUSH } from "./feed";
import { createHandOff } from "./hand-off";
import { type Change, createPrecedence, type Precedence } from "./precedence";
import { superviseFeed } from "./supervise";
import type { Provider } from "./upstream/provider";
import type { Repair } from "./upstream/repair";

const LOOK_MS = SECOND_MS;
/** So long before a change, minutes may still wait to be mended by the former speaker, who no longer will. */
const UNMENDED_MAX_MS = HOUR_MS;

export interface SeveralOptions {
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

export const memberName = (member: Provider | null): string => member?.name ?? PUSH;

/** A tick that an engine can take: one with another time does not show that its provider is well. */
const isOfNow = ({ time_msc, bid, ask }: Tick, nowMs: number) =>
  bid > 0 && ask >= bid && time_msc > nowMs - MINUTE_MS && time_msc <= nowMs + TICK_MAX_AHEAD_MS;

/** Reports the changes of a run. */
function changeLogOf({ clock, log, metrics, record }: SeveralOptions) {
  return createChangeLog(clock, (change) => {
    const { at: _, held, ...fields } = change;
    metrics.upstreamChanged(change.to, change.reason, change.tickers);
    if (change.reason === "first") return log.info(fields, "feed speaks for these tickers");
    log.warn(fields, "another feed speaks for these tickers");
    if (held > 0) log.warn({ tickers: held }, "too many changes of the feed: that of these tickers stays for an hour");
    record(change).catch((error: unknown) => log.error({ err: error }, "cannot record a change of the feed"));
  });
}

/** Which repairs have to look for missing minutes because another provider speaks. */
function createSuspects(members: SeveralOptions["members"], offers: (name: string, ticker: string) => boolean) {
  const repairs = new Map<string, Repair>();
  /** From where; null: from the beginning of all repairs. */
  const suspects = new Map<Repair, number | null>();

  /** Who mends the minutes of a ticker: its speaker, or else the first provider with a history. */
  function menderOf(ticker: string, speaker: string | undefined): string | undefined {
    const able = members.flatMap((member) => (member?.hasHistory && offers(member.name, ticker) ? [member.name] : []));
    return able.find((name) => name === speaker) ?? able[0];
  }

  return {
    repairs,
    menderOf,
    /** The minute of a change lacks ticks. With a first speaker, another provider may have to mend what was missing before. */
    add({ ticker, from, to, reason, wellMs }: Change): void {
      const mender = menderOf(ticker, to);
      const repair = mender === undefined ? undefined : repairs.get(mender);
      if (repair === undefined || (reason === "first" && mender === menderOf(ticker, from))) return;
      const before = suspects.get(repair);
      const fromMs = wellMs - UNMENDED_MAX_MS;
      suspects.set(repair, reason === "first" || before === null ? null : Math.min(before ?? fromMs, fromMs));
    },
    flush(): void {
      for (const [repair, fromMs] of suspects) repair.since(fromMs);
      suspects.clear();
    },
  };
}

/** Makes one run of several providers: who speaks, who mends, and which minutes are watched. */
export function createSeveralRun(options: SeveralOptions, start: FeedStart) {
  const { members, catalogue, clock, log } = options;
  const { heard } = start;
  /** By provider and ticker. */
  const alive = new Map<string, { readonly atMs: number; readonly silenceMaxMs: number }>();
  const problems = new Map<string, string | null>();
  const changes = changeLogOf(options);
  const divergence = createDivergence();
  const suspects = createSuspects(members, (name, ticker) => precedence.offers(name, ticker));
  const tickers = () => catalogue.list().map(({ ticker }) => ticker);
  let shared: Readonly<Record<string, string>> | undefined;

  const precedence = createPrecedence({
    members: members.map((member) => ({ name: memberName(member), connects: member !== null })),
    openSince(ticker, nowMs) {
      const session = catalogue.calendar(ticker)?.sessionAt(nowMs);
      return session?.state === "open" ? (session.openedAt ?? 0) : null;
    },
    changed(change) {
      // The first speaker has nobody before it; one that was quiet has brought nothing since it was well.
      if (change.from !== undefined) heard?.lost(change.ticker, change.wellMs);
      changes.add(change, precedence.heldUntil(change.ticker, clock.now()) !== null);
      suspects.add(change);
      shared = undefined;
    },
    nowMs: clock.now(),
  });

  /** The minutes of a ticker are watched as far as its speaker lives. */
  function watch(ticker: string): void {
    const speaker = precedence.speaker(ticker);
    const mark = speaker === undefined ? undefined : alive.get(`${speaker} ${ticker}`);
    if (mark !== undefined && mark.atMs >= precedence.since(ticker)) heard?.alive(ticker, mark.atMs, mark.silenceMaxMs);
  }

  function look(): void {
    const nowMs = clock.now();
    shared = undefined;
    // Before a change ends what the former speaker has watched.
    for (const ticker of tickers()) watch(ticker);
    precedence.look(tickers(), nowMs);
    suspects.flush();
    for (const { ticker, digits } of catalogue.list()) {
      const speaker = precedence.speaker(ticker);
      for (const name of divergence.look(ticker, speaker, 10 ** -digits, nowMs))
        log.warn({ ticker, feed: name, speaks: speaker }, "the prices of two feeds differ by more than ten spreads");
    }
    changes.flush();
  }

  /** Notes ticks of a provider. @returns those for which it speaks */
  function take(name: string, ticks: readonly Tick[]): readonly Tick[] {
    const atMs = clock.now();
    return ticks.filter((tick) => {
      const { ticker, bid, ask } = tick;
      const isNow = isOfNow(tick, atMs);
      if (isNow) divergence.tick(name, ticker, { bid, ask, atMs });
      const speaks = isNow ? precedence.tick(name, ticker, atMs) : precedence.speaker(ticker) === name;
      if (!speaks) start.standby?.(tick, name);
      return speaks;
    });
  }

  /** The venue fails when every provider does; pushes never do. */
  function turn(name: string, problem: string | null): void {
    problems.set(name, problem);
    const texts = members.map((member) => (member === null ? null : (problems.get(member.name) ?? null)));
    if (texts.every((text) => text !== null)) start.failing?.(texts.join("; "));
    else start.connected();
  }

  function open(provider: Provider, put: (ticks: readonly Tick[]) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { name, lost } = provider;
    const { feed, repair } = provider.open({
      ...(start.mend && { mend: start.mend }),
      connected: () => turn(name, null),
      follower: {
        live({ bySymbol }) {
          precedence.live(name, new Set([...bySymbol.values()].map(({ ticker }) => ticker)), clock.now());
          precedence.look(tickers(), clock.now());
        },
        lost: () => precedence.lost(name, clock.now()),
      },
      heard: {
        alive: (ticker, atMs, silenceMaxMs) => void alive.set(`${name} ${ticker}`, { atMs, silenceMaxMs }),
        lost(ticker, sinceMs) {
          if (precedence.speaker(ticker) === name) {
            watch(ticker);
            heard?.lost(ticker, sinceMs);
          }
          alive.delete(`${name} ${ticker}`);
        },
      },
      lacks(ticker, fromMs, toMs) {
        if (precedence.speaker(ticker) === name) start.lacks?.(ticker, fromMs, toMs);
      },
      mends: (ticker) => suspects.menderOf(ticker, precedence.speaker(ticker)) === name,
    });
    if (repair) suspects.repairs.set(name, repair);
    const taken = async (ticks: readonly Tick[]) => {
      const spoken = take(name, ticks);
      if (spoken.length > 0) await put(spoken);
    };
    const onState = (problem: string | null) => {
      if (problem !== (problems.get(name) ?? null)) turn(name, problem);
    };
    return superviseFeed({ feed, name, take: taken, onState, onLost: lost, clock, log }, signal);
  }

  async function pinChanged(): Promise<void> {
    const name = await options.pin();
    const isMember = members.some((member) => memberName(member) === name);
    if (name !== null && !isMember) log.warn({ feed: name }, "the pinned feed is not in LIVE_FEED; nothing is pinned");
    precedence.pin(isMember ? name : null, clock.now());
  }

  /** Reads the pin once, as soon as that is possible. */
  async function readPin(signal: AbortSignal): Promise<void> {
    let isRead = false;
    const onError = (error: unknown, failures: number) => {
      if (failures === 1) log.warn({ err: error }, "cannot read which feed is pinned; retrying");
    };
    await repeat({ clock, signal, pause: LOOK_MS, atOnce: true, until: () => isRead, onError }, async () => {
      await pinChanged();
      isRead = true;
    });
  }

  return {
    take,
    pinChanged,
    speaker: precedence.speaker,
    /** Who speaks, by ticker; EVERY_TICKER names who speaks for most, and those with the same are absent. */
    speakers: () => (shared ??= sharedOf(tickers(), precedence.speaker)),
    async *run(signal: AbortSignal): AsyncGenerator<readonly Tick[]> {
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      const handOff = createHandOff<readonly Tick[]>();
      const running = members.flatMap((member) => (member === null ? [] : [open(member, handOff.put, either)]));
      running.push(repeat({ clock, signal: either, pause: LOOK_MS, atOnce: true }, look), readPin(either));
      try {
        yield* handOff.read(signal);
      } finally {
        over.abort();
        await Promise.all(running);
        changes.end();
      }
    },
    report: (): PrecedenceReport => ({
      ...reportOf(members.map(memberName), tickers(), { precedence, divergence, nowMs: clock.now() }),
      changes: changes.list(),
    }),
  };
}

/** Everything that a report says but the changes. */
function reportOf(
  names: readonly string[],
  tickers: readonly string[],
  { precedence, divergence, nowMs }: { precedence: Precedence; divergence: ReturnType<typeof createDivergence>; nowMs: number },
): Omit<PrecedenceReport, "changes"> {
  const divergent = divergence.list();
  const speakers = tickers.map(precedence.speaker);
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    providers: names.map((name) => ({
      name,
      speaks: speakers.filter((speaker) => speaker === name).length,
      divergent: divergent.filter((one) => one.name === name).length,
    })),
    waiting: speakers.filter((speaker) => speaker === undefined).length,
    pinned: precedence.pinned(),
    held: tickers.filter((ticker) => precedence.heldUntil(ticker, nowMs) !== null).length,
    divergent: divergent.slice(0, DIVERGENT_LISTED_COUNT).map(({ sinceMs, ...one }) => ({ ...one, since: iso(sinceMs) })),
  };
}

function sharedOf(tickers: readonly string[], speaker: (ticker: string) => string | undefined): Record<string, string> {
  const counts = new Map<string, number>();
  for (const ticker of tickers) {
    const name = speaker(ticker) ?? "";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [most = ""] = [...counts].sort(([, one], [, other]) => other - one).map(([name]) => name);
  const others = tickers.flatMap((ticker): [string, string][] => {
    const name = speaker(ticker) ?? "";
    return name === most ? [] : [[ticker, name]];
  });
  return Object.fromEntries([[EVERY_TICKER, most], ...others]);
}
