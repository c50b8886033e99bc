"use client";

import type { ReactNode } from "react";
import type { LossReason, UpstreamReport, UpstreamState, UpstreamTicker, UpstreamTickerState } from "#lib/contract/portal-feeds";
import { durationText } from "#lib/duration";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { TickerList } from "../ui/ticker-list";

const STATES: Record<UpstreamState, { tone: Tone; label: string; title: string }> = {
  idle: { tone: "neutral", label: "Idle", title: "Another process runs this feed." },
  connecting: { tone: "neutral", label: "Connecting", title: "Asking for the instruments, then for a connection." },
  authenticating: { tone: "neutral", label: "Signing in", title: "Connected; the key is sent." },
  subscribing: { tone: "neutral", label: "Subscribing", title: "Signed in; requesting prices of the instruments." },
  live: { tone: "positive", label: "Streaming", title: "Connected and subscribed." },
  quiet: {
    tone: "warning",
    label: "Quiet",
    title: "It stopped pricing while markets are open, so it is connected again. No price has come since.",
  },
  waiting: { tone: "warning", label: "Waiting", title: "The connection was lost, and is opened again after a pause." },
  refused: { tone: "danger", label: "Refused", title: "Only the owner of the account can change this." },
};

const TICKER_STATES: Record<UpstreamTickerState, { tone: Tone; label: string }> = {
  awaited: { tone: "neutral", label: "Awaiting a tick" },
  live: { tone: "positive", label: "Receiving" },
  quiet: { tone: "warning", label: "Quiet" },
  closed: { tone: "neutral", label: "Market closed" },
  missing: { tone: "danger", label: "Missing" },
  not_offered: { tone: "neutral", label: "Not offered" },
};

const LOSSES: Record<LossReason, string> = {
  refused: "Refused",
  silent: "Silent",
  quiet: "No prices",
  unreachable: "Not reached",
  asked_to_wait: "Asked to wait",
  lost: "Lost",
};

/** Tickers shown before the rest is folded. */
const SHOWN_MAX_COUNT = 3;

const signedText = (ms: number) => `${ms < 0 ? "−" : ""}${durationText(Math.abs(ms))}`;

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-ink-faint text-xs leading-5">{label}</dt>
      <dd className="text-sm leading-6 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

function TickerLine({ ticker, symbol, state, since, reason, digits }: UpstreamTicker) {
  const { tone, label } = TICKER_STATES[state];
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-4">
      <span>
        <span className="font-medium">{ticker}</span>
        {symbol === null ? null : <code className="ml-2 font-mono text-ink-faint text-xs">{symbol}</code>}
      </span>
      <span className="text-ink-soft">
        {reason === null || state === "not_offered" ? null : <span className="mr-2 [overflow-wrap:anywhere]">{reason}</span>}
        {digits === null ? null : (
          <span className="mr-2">
            {digits[0]} decimal places, {digits[1]} here
          </span>
        )}
        <Badge tone={tone}>{label}</Badge>
        {symbol === null ? null : (
          <span className="ml-1 text-ink-faint text-xs">
            since <Instant at={since} to="second" />
          </span>
        )}
      </span>
    </li>
  );
}

function Tickers({ tickers: all, wanted }: Pick<UpstreamReport, "tickers" | "wanted">) {
  const tickers = all.filter(({ state }) => state !== "not_offered");
  const unoffered = all.filter(({ state }) => state === "not_offered");
  const rest = tickers.slice(SHOWN_MAX_COUNT);
  return (
    <>
      <ul className="space-y-1 text-sm">
        {tickers.slice(0, SHOWN_MAX_COUNT).map((one) => (
          <TickerLine key={one.ticker} {...one} />
        ))}
      </ul>
      {rest.length === 0 ? null : (
        <details className="text-sm">
          <summary className="mb-1 cursor-pointer text-ink-soft hover:text-ink">
            {countText(wanted - unoffered.length - SHOWN_MAX_COUNT)} more instruments
          </summary>
          <ul className="space-y-1">
            {rest.map((one) => (
              <TickerLine key={one.ticker} {...one} />
            ))}
          </ul>
          {all.length < wanted ? <p className="mt-1 text-ink-faint">Showing {countText(tickers.length)}.</p> : null}
        </details>
      )}
      {unoffered.length === 0 ? null : (
        <Folded title={`${countText(unoffered.length)} ${unoffered.length === 1 ? "instrument" : "instruments"} not offered`}>
          <li>
            <TickerList tickers={unoffered.map(({ ticker }) => ticker)} />
          </li>
        </Folded>
      )}
    </>
  );
}

/** A list that is folded behind its number. */
function Folded({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="text-sm">
      <summary className="mb-1 cursor-pointer text-ink-soft hover:text-ink">{title}</summary>
      <ul className="space-y-1">{children}</ul>
    </details>
  );
}

function Losses({ losses, losses_count }: Pick<UpstreamReport, "losses" | "losses_count">) {
  if (losses_count === 0) return null;
  return (
    <Folded title={`${countText(losses_count)} lost ${losses_count === 1 ? "connection" : "connections"} in the last hour`}>
      {losses.map(({ at, reason, text }) => (
        <li key={at} className="[overflow-wrap:anywhere]">
          <Instant at={at} to="second" /> <span className="font-medium">{LOSSES[reason]}</span>{" "}
          <span className="text-ink-soft">{text}</span>
        </li>
      ))}
    </Folded>
  );
}

/** The minutes that are fetched from the provider's history, now or later. */
function Repairs({ repairs }: Pick<UpstreamReport, "repairs">) {
  if (repairs === null || repairs.length === 0) return null;
  return (
    <Folded title={`${countText(repairs.length)} ${repairs.length === 1 ? "range" : "ranges"} of minutes to repair`}>
      {repairs.map(({ from, to, tries, due_at, running }) => (
        <li key={`${from} ${to} ${due_at}`} className="[overflow-wrap:anywhere]">
          <Instant at={from} to="minute" /> to <Instant at={to} to="minute" />{" "}
          <span className="text-ink-faint">
            {running ? (
              "running"
            ) : (
              <>
                {tries === 0 ? "first" : "next"} try <Instant at={due_at} to="clock" />
              </>
            )}
          </span>
        </li>
      ))}
    </Folded>
  );
}

function Odd({ odd }: Pick<UpstreamReport, "odd">) {
  const total = odd.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  return (
    <Folded title={`${countText(total)} ${total === 1 ? "message was" : "messages were"} not used`}>
      {odd.map(({ reason, count, text }) => (
        <li key={reason} className="[overflow-wrap:anywhere]">
          <code className="font-mono text-xs">{reason}</code> {countText(count)}
          {text === "" ? null : <code className="block font-mono text-ink-faint text-xs leading-5">{text}</code>}
        </li>
      ))}
    </Folded>
  );
}

function Clocks({ sends_times, clock_offset_ms, clock_is_off }: UpstreamReport) {
  if (!sends_times) return "Sends no times; ticks have the time of their arrival";
  if (clock_offset_ms === null) return "–";
  const text = signedText(clock_offset_ms);
  return clock_is_off ? <span className="text-danger">{text}. Check the clock of this server.</span> : text;
}

/** A provider: its connection, its times, and which instruments it offers. */
export function ProviderView({ provider }: { provider: UpstreamReport }) {
  const { name, state, since, until, problem, last_heard_at, last_tick_at, lag, wanted, found, terms, expires_at } = provider;
  const { tone, label, title } = STATES[state];
  return (
    <div className="space-y-4 bg-surface p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h3 className="font-medium text-sm">
          Provider <code className="font-mono">{name}</code>
        </h3>
        <p className="text-ink-faint text-xs leading-5">
          <Badge tone={tone} title={title}>
            {label}
          </Badge>{" "}
          since <Instant at={since} to="second" />
          {until === null ? null : (
            <>
              , next try <Instant at={until} to="clock" />
            </>
          )}
        </p>
      </div>
      {problem === null ? null : <p className="text-danger text-sm [overflow-wrap:anywhere]">{problem}</p>}
      <dl className="grid grid-cols-2 gap-x-4 gap-y-2 lg:grid-cols-3">
        <Fact label="Last message">
          <Instant at={last_heard_at} to="second" />
        </Fact>
        <Fact label="Last tick">
          <Instant at={last_tick_at} to="second" />
        </Fact>
        <Fact label="Delay in the last minute">
          {lag === null ? "–" : `median ${durationText(lag.median_ms)}, p99 ${durationText(lag.p99_ms)}`}
        </Fact>
        <Fact label="Clock difference">
          <Clocks {...provider} />
        </Fact>
        <Fact label="Instruments offered">
          {countText(found)} of {countText(wanted)}
        </Fact>
        {expires_at === null ? null : (
          <Fact label="Access ends">
            <Instant at={expires_at} />
          </Fact>
        )}
      </dl>
      {wanted === 0 ? null : <Tickers {...provider} />}
      <Repairs {...provider} />
      <Losses {...provider} />
      <Odd {...provider} />
      <p className="text-ink-faint text-xs leading-5">
        {terms.text}{" "}
        <a href={terms.url} className="underline underline-offset-2" rel="noreferrer" target="_blank">
          Terms
        </a>
      </p>
    </div>
  );
}
