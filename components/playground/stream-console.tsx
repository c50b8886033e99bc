"use client";

import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { Badge, type Tone } from "../ui/badge";
import { Button } from "../ui/button";
import { type Column, Table } from "../ui/table";
import { afterCloseSentence, closeSentence } from "./closes";
import type { StreamOperation, Values } from "./model";
import type { SessionEnd } from "./session";
import { StreamLog } from "./stream-log";
import type { TickerRow } from "./stream-state";
import { Notes, TroubleNotice } from "./trouble-notice";
import { type Selection, type StreamControl, useStream } from "./use-stream";

interface StreamConsoleProps {
  readonly operation: StreamOperation;
  readonly values: Values;
  readonly bearers: Bearers;
  readonly credential: Credential | undefined;
}

const PHASES: Readonly<Record<StreamControl["phase"], readonly [Tone, string]>> = {
  idle: ["neutral", "Not connected"],
  connecting: ["neutral", "Connecting"],
  open: ["positive", "Connected"],
  paused: ["neutral", "Paused while hidden"],
  ended: ["neutral", "Disconnected"],
};

const COLUMNS: readonly Column<TickerRow>[] = [
  { head: "Ticker", cell: ({ ticker }) => <span className="font-mono text-[13px]">{ticker}</span> },
  { head: "Last value", cell: ({ value }) => value, numeric: true },
  {
    head: "Sequence",
    cell: ({ position }) => <span title={`epoch ${position.epoch}`}>{position.seq}</span>,
    numeric: true,
    from: "sm",
  },
  { head: "Per second", cell: ({ rate }) => rate.toFixed(1), numeric: true, from: "sm" },
  { head: "Records", cell: ({ records }) => records, numeric: true, from: "md" },
  { head: "Merged", cell: ({ merged }) => merged, numeric: true, from: "md" },
  {
    head: "Gaps",
    cell: ({ gaps }) => <span className={gaps > 0 ? "text-warning" : "text-ink-faint"}>{gaps}</span>,
    numeric: true,
  },
];

/** The subscription that the form describes. */
export function selectionOf({ stream }: StreamOperation, values: Values): Selection {
  const tickers = (values.tickers ?? "").split(",").map((ticker) => ticker.trim());
  const { timeframe } = values;
  return { stream, tickers, ...(timeframe !== undefined && timeframe !== "" && { timeframe }) };
}

function End({ end, again }: { end: SessionEnd; again: () => void }) {
  if (end.trouble !== undefined)
    return <TroubleNotice trouble={end.trouble} again={end.trouble.retryAfterS === undefined ? undefined : again} />;
  return (
    <div role="status" className="rounded-lg border border-line bg-surface p-4 text-sm leading-6">
      <p className="font-medium">
        <code className="mr-2 font-mono">{end.code}</code>
        {closeSentence(end.code)}
      </p>
      <p className="text-ink-soft">{afterCloseSentence(end.code)}</p>
    </div>
  );
}

/** A visible connection: what is sent, what arrives, what was missed, and why it ended. */
export function StreamConsole({ operation, values, bearers, credential }: StreamConsoleProps) {
  const stream = useStream(bearers);
  const { phase, view, end } = stream;
  const [tone, words] = PHASES[phase];
  const selection = selectionOf(operation, values);
  const connected = phase !== "idle" && phase !== "ended";
  const connect = () => credential && stream.connect({ operation, credential }, selection);
  return (
    <section aria-label="Stream" className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        {connected ? (
          <>
            <Button kind="primary" disabled={phase !== "open"} onClick={() => stream.ask("subscribe", selection)}>
              Subscribe
            </Button>
            <Button disabled={phase !== "open"} onClick={() => stream.ask("unsubscribe", selection)}>
              Unsubscribe
            </Button>
            <Button onClick={stream.disconnect}>Disconnect</Button>
          </>
        ) : (
          <Button kind="primary" disabled={credential === undefined} onClick={connect}>
            Connect
          </Button>
        )}
        <div aria-live="polite" className="ml-auto">
          <Badge tone={tone}>{words}</Badge>
        </div>
      </div>
      {end === undefined ? null : <End end={end} again={connect} />}
      <Notes notes={[...view.refused.map((text) => ({ text })), ...view.quiet]} />
      <Table
        caption="Last value of each subscription"
        columns={COLUMNS}
        rows={view.rows}
        rowKey={({ key }) => key}
        empty={connected ? "Waiting for the first record." : "Press Connect to subscribe to the tickers in the form."}
      />
      <StreamLog view={view} onClear={stream.clear} />
    </section>
  );
}
