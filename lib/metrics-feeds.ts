import { Counter, Gauge, type Registry } from "prom-client";
import {
  type ChangeReason,
  type HeldBackReason,
  type LossReason,
  type ODD_REASONS,
  type PrecedenceReport,
  UPSTREAM_STATES,
  type UpstreamReport,
} from "#lib/contract/portal-feeds";
import { SECOND_MS } from "./units";

/** The counters of what comes from providers. */
export interface FeedMetrics {
  /** Counts what came from a provider: ticks, and messages that were not used by reason. */
  upstreamMessages(upstream: string, outcome: "tick" | (typeof ODD_REASONS)[number], count: number): void;
  /** Counts a connection to a provider that ended, or did not come about. */
  upstreamLost(upstream: string, reason: LossReason): void;
  /** Counts minutes that were stored from a provider's history. */
  upstreamRepaired(upstream: string, minutes: number): void;
  /** Sets how the providers are read. */
  upstreams(read: () => readonly UpstreamReport[]): void;
  /** Counts tickers for which a provider began to speak. */
  upstreamChanged(upstream: string, reason: ChangeReason, tickers: number): void;
  /** Sets how the precedence of several providers is read. */
  precedence(read: () => PrecedenceReport): void;
  /** Counts a tick that was kept out of a venue. */
  quarantined(upstream: string, reason: HeldBackReason | "not_a_quote"): void;
  /** Counts a tick with an unusually wide spread, which was let through. */
  wideSpread(upstream: string): void;
  /** Counts ticks that could not be kept. */
  ticksLeftOut(ticks: number): void;
}

/** The metrics of the providers; their names are those of PROVIDER_SETTINGS, and all other labels are of closed sets. */
function upstreamMetrics(
  registers: Registry[],
): Pick<FeedMetrics, "upstreamMessages" | "upstreamLost" | "upstreamRepaired" | "upstreams" | "quarantined" | "wideSpread"> {
  const messages = new Counter({
    name: "spotwire_feed_messages_total",
    help: "Ticks of a provider, and its messages that were not used by reason.",
    labelNames: ["upstream", "outcome"],
    registers,
  });
  const repaired = new Counter({
    name: "spotwire_feed_repaired_minutes_total",
    help: "Minutes that were stored from the history of a provider.",
    labelNames: ["upstream"],
    registers,
  });
  const losses = new Counter({
    name: "spotwire_feed_reconnects_total",
    help: "Connections to a provider that ended and are opened again, by reason.",
    labelNames: ["upstream", "reason"],
    registers,
  });
  const quarantined = new Counter({
    name: "spotwire_feed_quarantined_total",
    help: "Ticks that were kept out because they cannot be true, by reason.",
    labelNames: ["upstream", "reason"],
    registers,
  });
  const wide = new Counter({
    name: "spotwire_feed_wide_spreads_total",
    help: "Ticks with an unusually wide spread; they were let through.",
    labelNames: ["upstream"],
    registers,
  });
  return {
    upstreamMessages: (upstream, outcome, count) => messages.inc({ upstream, outcome }, count),
    quarantined: (upstream, reason) => quarantined.inc({ upstream, reason }),
    wideSpread: (upstream) => wide.inc({ upstream }),
    upstreamLost: (upstream, reason) => losses.inc({ upstream, reason }),
    upstreamRepaired: (upstream, minutes) => repaired.inc({ upstream }, minutes),
    upstreams(read) {
      new Gauge({
        name: "spotwire_feed_state",
        help: "1 for the state of a provider, 0 for the others.",
        labelNames: ["upstream", "state"],
        registers,
        collect() {
          for (const { name: upstream, state: current } of read())
            for (const state of UPSTREAM_STATES) this.set({ upstream, state }, state === current ? 1 : 0);
        },
      });
      const gauge = (name: string, help: string, seconds: (report: UpstreamReport) => readonly [string, number | null][]) => {
        new Gauge({
          name,
          help,
          registers,
          labelNames: ["upstream", "quantile"],
          collect() {
            this.reset();
            for (const report of read())
              for (const [quantile, ms] of seconds(report))
                if (ms !== null) this.set({ upstream: report.name, ...(quantile !== "" && { quantile }) }, ms / SECOND_MS);
          },
        });
      };
      gauge("spotwire_feed_lag_seconds", "Arrival of ticks minus their time, in the last minute.", ({ lag }) => [
        ["0.5", lag?.median_ms ?? null],
        ["0.99", lag?.p99_ms ?? null],
      ]);
      gauge("spotwire_feed_clock_offset_seconds", "Smallest arrival minus tick time of five minutes.", ({ clock_offset_ms }) => [
        ["", clock_offset_ms],
      ]);
    },
  };
}

/** The metrics of the ticks that are kept. */
function keptMetrics(registers: Registry[]): Pick<FeedMetrics, "ticksLeftOut"> {
  const leftOut = new Counter({
    name: "spotwire_ticks_left_out_total",
    help: "Ticks that are not kept, because the database was unavailable for too long.",
    registers,
  });
  return { ticksLeftOut: (ticks) => leftOut.inc(ticks) };
}

/** The metrics of a venue with several providers. */
function precedenceMetrics(registers: Registry[]): Pick<FeedMetrics, "upstreamChanged" | "precedence"> {
  const changed = new Counter({
    name: "spotwire_feed_changes_total",
    help: "Instruments for which this provider began to speak, by reason.",
    labelNames: ["upstream", "reason"],
    registers,
  });
  return {
    upstreamChanged: (upstream, reason, tickers) => changed.inc({ upstream, reason }, tickers),
    precedence(read) {
      const gauge = (name: string, help: string, count: (provider: PrecedenceReport["providers"][number]) => number) => {
        new Gauge({
          name,
          help,
          registers,
          labelNames: ["upstream"],
          collect() {
            for (const provider of read().providers) this.set({ upstream: provider.name }, count(provider));
          },
        });
      };
      gauge("spotwire_feed_speaks", "Instruments that a provider speaks for.", ({ speaks }) => speaks);
      gauge(
        "spotwire_feed_divergent",
        "Instruments of which the prices of a provider differ from those that are taken.",
        ({ divergent }) => divergent,
      );
    },
  };
}

/** Creates the metrics of providers, of the precedence among them and of the ticks that are kept. */
export function feedMetrics(registers: Registry[]): FeedMetrics {
  return { ...upstreamMetrics(registers), ...keptMetrics(registers), ...precedenceMetrics(registers) };
}
