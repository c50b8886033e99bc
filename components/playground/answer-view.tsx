"use client";

import dynamic from "next/dynamic";
import { useEffect, useRef } from "react";
import { fieldsOf } from "#lib/client/errors";
import type { KlineWindow } from "#lib/contract/kline";
import { msText } from "../portal/numbers";
import { Badge } from "../ui/badge";
import { CopyButton } from "../ui/copy-button";
import { Skeleton } from "../ui/skeleton";
import { type Tab, Tabs } from "../ui/tabs";
import { AnswerHeaders, RateMeter, rateLimitOf } from "./answer-headers";
import type { Bearers } from "./credential";
import { JsonTree } from "./json-tree";
import type { Credential, RestOperation, StreamOperation } from "./model";
import { notesOf } from "./notes";
import { RecordsTable, recordsOf } from "./records-table";
import type { Answer, Outcome } from "./send";
import type { Correction } from "./trouble";
import { Notes, TroubleNotice } from "./trouble-notice";

// Loaded on demand: it is as large as the rest of the page.
const KlineChart = dynamic(() => import("./kline-chart").then((module) => module.KlineChart), {
  ssr: false,
  loading: () => <Skeleton className="h-96 w-full" />,
});

interface AnswerViewProps {
  readonly operation: RestOperation;
  readonly outcome: Outcome | undefined;
  readonly busy: boolean;
  readonly again: () => void;
  /** Puts the suggestion into the form. */
  readonly onCorrect: (correction: Correction) => void;
  /** For the chart, which the kline stream keeps up to date. */
  readonly live: { readonly bearers: Bearers; readonly credential: Credential | undefined; readonly stream: StreamOperation };
}

/** A response that starts above this fraction of the window is visible without scrolling. */
const IN_SIGHT_PART = 0.75;
const KILOBYTE = 1_024;
const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  429: "Too Many Requests",
  500: "Server Error",
  503: "Unavailable",
};

function sizeText(bytes: number): string {
  return bytes < KILOBYTE ? `${bytes} B` : `${(bytes / KILOBYTE).toFixed(1)} kB`;
}

function Facts({ answer }: { answer: Answer }) {
  const limit = rateLimitOf(answer);
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
      <Badge tone={answer.status < 300 ? "positive" : answer.status < 500 ? "warning" : "danger"}>
        {answer.status} {STATUS_WORDS[answer.status] ?? ""}
      </Badge>
      <dl className="flex gap-4 font-mono text-xs tabular-nums">
        <div className="flex gap-1.5">
          <dt className="text-ink-faint">Time</dt>
          <dd>{msText(answer.tookMs)}</dd>
        </div>
        <div className="flex gap-1.5">
          <dt className="text-ink-faint">Size</dt>
          <dd>{sizeText(answer.sizeBytes)}</dd>
        </div>
      </dl>
      <div className="sm:ml-auto">{limit === undefined ? null : <RateMeter {...limit} />}</div>
    </div>
  );
}

function Body({ answer }: { answer: Answer }) {
  const text = answer.body === undefined ? answer.text : JSON.stringify(answer.body, null, 2);
  return (
    <div className="relative">
      <div className="absolute top-2 right-2 z-10">
        <CopyButton text={text} label="Copy JSON" />
      </div>
      {answer.body === undefined ? (
        <pre className="max-h-96 overflow-auto whitespace-pre-wrap rounded-lg border border-line bg-sunken p-3 font-mono text-[13px]">
          {answer.text === "" ? "The response has no body." : answer.text}
        </pre>
      ) : (
        <JsonTree value={answer.body} />
      )}
    </div>
  );
}

function tabsOf(operation: RestOperation, answer: Answer, live: AnswerViewProps["live"]): [Tab, ...Tab[]] {
  const rows = recordsOf(answer.body);
  const window = fieldsOf(answer.body).data as KlineWindow;
  const json: Tab = { value: "json", label: "JSON", content: <Body answer={answer} /> };
  const headers: Tab = { value: "headers", label: "Headers", content: <AnswerHeaders headers={answer.headers} /> };
  if (rows === undefined) return [json, headers];
  const table: Tab = { value: "table", label: "Table", content: <RecordsTable rows={rows} /> };
  if (operation.id !== "klines" || rows.length === 0) return [json, table, headers];
  const chart: Tab = { value: "chart", label: "Chart", content: <KlineChart window={window} {...live} /> };
  return [chart, json, table, headers];
}

/** The outcome of a call: its status, and the answer in the chosen view. */
export function AnswerView({ operation, outcome, busy, again, onCorrect, live }: AnswerViewProps) {
  const { answer, trouble } = outcome ?? {};
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    // In a single-column layout the response would appear below the fold.
    const top = outcome === undefined ? 0 : (place.current?.getBoundingClientRect().top ?? 0);
    if (top > window.innerHeight * IN_SIGHT_PART) place.current?.scrollIntoView({ block: "start" });
  }, [outcome]);
  const tabs = answer === undefined ? undefined : tabsOf(operation, answer, live);
  return (
    <section
      ref={place}
      aria-label="Answer"
      aria-busy={busy}
      className={`flex min-w-0 scroll-mt-20 flex-col gap-4 transition-opacity ${busy ? "opacity-60" : ""}`}
    >
      {outcome === undefined ? (
        <p className="rounded-lg border border-line border-dashed p-6 text-ink-soft text-sm leading-6">
          {busy ? "Waiting for the response." : "Press Send to see the response here."}
        </p>
      ) : null}
      {answer === undefined ? null : <Facts answer={answer} />}
      {trouble === undefined ? null : (
        <TroubleNotice
          trouble={trouble}
          again={answer === undefined || trouble.retryAfterS !== undefined ? again : undefined}
          onCorrect={onCorrect}
        />
      )}
      {answer === undefined || trouble !== undefined ? null : <Notes notes={notesOf(operation.id, answer.body)} />}
      {tabs === undefined ? null : <Tabs key={`${operation.id} ${tabs.length}`} label="Answer as" tabs={tabs} />}
    </section>
  );
}
