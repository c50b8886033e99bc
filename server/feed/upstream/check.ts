import type { Clock } from "#lib/clock";
import type { ConnectionReport, FeedFinding } from "#lib/contract/portal-feeds";
import type { Tick } from "#lib/domain/tick";
import { durationText } from "#lib/duration";
import { createLog } from "#lib/log";
import type { Catalogue } from "#lib/market/ports";
import { Refused } from "../feed";
import { checkHistory } from "./check-history";
import { clockIsWrong } from "./delays";
import type { Upstream } from "./port";
import { reach } from "./reach";
import { upstreamFeed } from "./runner";
import { createUpstreamWatch } from "./state";

interface CheckOptions {
  readonly upstream: Upstream;
  readonly catalogue: Pick<Catalogue, "list" | "calendar">;
  readonly named: ReadonlyMap<string, string>;
  readonly clock: Clock;
  /** How long a tick is waited for once its instruments are subscribed, milliseconds. */
  readonly waitMs: number;
  /** After the first tick, so long are more of them awaited to compare the clocks: the first may be an old price. */
  readonly moreMs: number;
}

/** What a connection brought. */
interface Outcome {
  readonly report: ConnectionReport;
  readonly problem: Error | undefined;
  readonly ticks: number;
  /** The smallest arrival minus tick time. */
  readonly offsetMs: number;
}

/** Runs one connection as the service does, until there were ticks or the wait is over. */
async function tryOnce(
  { upstream, catalogue, named, clock, waitMs, moreMs }: CheckOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const watch = createUpstreamWatch({ upstream, calendarOf: catalogue.calendar, isListed: () => true, nowMs: clock.now() });
  const metrics = { upstreamMessages: () => undefined, quarantined: () => undefined };
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const endAfter = (ms: number) => void clock.wait(ms, ends).then(() => over.abort());
  const connected = () => endAfter(waitMs);
  const log = createLog("silent");
  const feed = upstreamFeed({
    upstream,
    listings: catalogue.list,
    calendarOf: catalogue.calendar,
    named,
    watch,
    metrics,
    connected,
    clock,
    log,
  });
  let [problem, ticks, offsetMs]: [Error | undefined, number, number] = [undefined, 0, Number.POSITIVE_INFINITY];
  const take = ({ time_msc }: Tick) => {
    offsetMs = Math.min(offsetMs, clock.now() - time_msc);
  };
  try {
    for await (const batch of feed(ends)) {
      if (ticks === 0) endAfter(moreMs);
      ticks += batch.length;
      batch.forEach(take);
    }
  } catch (error) {
    problem = error as Error;
  } finally {
    over.abort();
  }
  return { report: watch.report(clock.now()), problem, ticks, offsetMs };
}

function loginFinding({ report, problem }: Outcome): FeedFinding {
  const offersNone = report.wanted > 0 && report.found === 0;
  const before = report.state === "connecting" || report.state === "authenticating";
  if (problem === undefined || offersNone || !(before || problem instanceof Refused))
    return { step: "login", state: "ok", text: "the provider accepts the account" };
  const next =
    problem instanceof Refused
      ? "Only the owner of the account can change this: check the key or token, the account and the plan at the provider."
      : "The provider can be reached but does not serve this machine now. Try again in a few minutes.";
  return { step: "login", state: "failed", text: problem.message, next };
}

function instrumentsFinding({ report: { wanted, found, tickers } }: Outcome): FeedFinding {
  const unclear = tickers.filter(({ state }) => state === "missing").map(({ ticker, reason }) => `${ticker}: ${reason}`);
  const unoffered = tickers.filter(({ state }) => state === "not_offered").map(({ ticker }) => ticker);
  const without = [...unclear, ...(unoffered.length === 0 ? [] : [`not offered: ${unoffered.join(", ")}`])];
  const text = `${found} of ${wanted} instruments${without.length === 0 ? "" : ` (${without.join("; ")})`}`;
  if (found === wanted) return { step: "instruments", state: "ok", text };
  const next =
    "Name symbols with FEED_SYMBOLS. While the service runs with this provider, retire all that it does not offer: npm run instruments -- retire --not-offered.";
  return { step: "instruments", state: found === 0 ? "failed" : "noted", text, next };
}

function pricesFinding({ report, problem, ticks }: Outcome, waitMs: number): FeedFinding {
  const wait = durationText(waitMs);
  if (ticks > 0) return { step: "prices", state: "ok", text: `${ticks} ${ticks === 1 ? "tick" : "ticks"}` };
  if (problem !== undefined) {
    const next = "Try again. If it fails again, look at the status page of the provider.";
    return { step: "prices", state: "failed", text: problem.message, next };
  }
  if (report.tickers.every(({ state, symbol }) => state === "closed" || symbol === null)) {
    const next = "Check again while a market is open.";
    return { step: "prices", state: "noted", text: "subscribed; every market is closed, so no tick came", next };
  }
  const next = "Check whether the plan of the account includes streaming of these instruments, or wait longer with --wait.";
  return { step: "prices", state: "failed", text: `subscribed, but no tick came within ${wait} although a market is open`, next };
}

function clockFinding({ report, offsetMs }: Outcome): FeedFinding {
  if (!report.sends_times)
    return { step: "clock", state: "noted", text: "the provider sends no times; ticks get the time at which they arrive" };
  const size = durationText(Math.abs(offsetMs));
  const text = offsetMs < 0 ? `ticks are ${size} ahead of this machine` : `ticks are ${size} old when they arrive`;
  if (!clockIsWrong(offsetMs)) return { step: "clock", state: "ok", text };
  const next =
    "Set the clock of this machine by NTP. Ticks more than 5 s ahead of it, or of a minute that is over, are rejected.";
  return { step: "clock", state: "failed", text, next };
}

/**
 * Tries a provider step by step, as the service would use it; ends after the first step that failed. Nothing of the settings
 * that are secret appears in the findings.
 */
export async function* checkUpstream(options: CheckOptions, signal: AbortSignal): AsyncGenerator<FeedFinding> {
  for (const address of options.upstream.addresses ?? [])
    for await (const finding of reach(address)) {
      yield finding;
      if (finding.state === "failed") return;
    }
  const outcome = await tryOnce(options, signal);
  if (signal.aborted) return;
  const findings = [loginFinding, instrumentsFinding, (tried: Outcome) => pricesFinding(tried, options.waitMs)];
  for (const find of findings) {
    const finding = find(outcome);
    yield finding;
    if (finding.state === "failed") return;
  }
  const symbol = outcome.report.tickers.find((ticker) => ticker.symbol !== null)?.symbol;
  const history = symbol ? await checkHistory(options, symbol, signal) : undefined;
  if (history !== undefined) yield history;
  if (outcome.ticks > 0 && history?.state !== "failed") yield clockFinding(outcome);
}
