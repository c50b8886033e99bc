"use client";

import dynamic from "next/dynamic";
import { type ComponentProps, type ReactNode, useEffect, useRef } from "react";
import { fieldsOf } from "#lib/client/errors";
import type { KlineWindow } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import type { DataFileList } from "#lib/operations/files/declaration";
import type { TickWindow } from "#lib/operations/ticks/declaration";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { CopyButton } from "../ui/copy-button";
import { Skeleton } from "../ui/skeleton";
import { type Tab, Tabs } from "../ui/tabs";
import { AnswerFacts } from "./answer-facts";
import { AnswerHeaders } from "./answer-headers";
import { CompareView } from "./compare-view";
import { DownloadCsv } from "./download-csv";
import type { FilesTable as ShownFiles } from "./files-table";
import { JsonTree } from "./json-tree";
import type { KeptAnswers } from "./kept-answers";
import type { RestOperation } from "./model";
import { notesOf } from "./notes";
import { priceDigits } from "./records-format";
import { RecordsTable, recordsOf } from "./records-table";
import type { Answer, Outcome } from "./send";
import { TimingView } from "./timing-view";
import type { Correction } from "./trouble-correction";
import { Notes, TroubleNotice } from "./trouble-notice";

// Loaded on demand: it is as large as the rest of the page.
const AnswerChart = dynamic(() => import("./answer-chart").then((module) => module.AnswerChart), {
  ssr: false,
  loading: () => <Skeleton className="h-96 w-full" />,
});

const TickChart = dynamic(() => import("../chart/tick-chart").then((module) => module.TickChart), {
  ssr: false,
  loading: () => <Skeleton className="h-96 w-full" />,
});

const FilesTable = dynamic(() => import("./files-table").then((module) => module.FilesTable), {
  loading: () => <Skeleton className="h-48 w-full" />,
});

interface AnswerViewProps {
  readonly operation: RestOperation;
  readonly outcome: Outcome | undefined;
  /** The form asks something else than this outcome is of. */
  readonly previous: boolean;
  /** The answers of this page, to compare them. */
  readonly kept: KeptAnswers;
  /** Decimals of the instruments that are known, by ticker. */
  readonly digits: ReadonlyMap<string, number>;
  /** Address and key of code. */
  readonly target: ComponentProps<typeof ShownFiles>["target"];
  readonly busy: boolean;
  readonly again: () => void;
  /** Puts the suggestion into the form, and sends it. */
  readonly onCorrect: (correction: Correction) => void;
  readonly live: {
    readonly bearers: Bearers;
    readonly credential: Credential | undefined;
    /** With what the kline stream keeps the chart up to date. */
    readonly chart: Credential | undefined;
    readonly onTimeframe: (timeframe: Timeframe) => void;
  };
}

/** A response that starts above this fraction of the window is visible without scrolling. */
const IN_SIGHT_PART = 0.75;

function Body({ answer }: { answer: Answer }) {
  const text = answer.body === undefined ? answer.text : JSON.stringify(answer.body, null, 2);
  return (
    <div className="flex flex-col gap-2">
      <div className="self-end">
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

function Records({ id, ...table }: { readonly id: string } & ComponentProps<typeof RecordsTable>) {
  return (
    <div className="flex flex-col gap-2">
      <div className="self-end">
        <DownloadCsv operationId={id} items={table.rows} />
      </div>
      <RecordsTable {...table} />
    </div>
  );
}

type TabProps = Pick<AnswerViewProps, "operation" | "kept" | "digits" | "live" | "target">;

/** The records of an answer drawn over time; undefined for an operation whose records have no chart. */
function chartOf({ body }: Answer, { operation, digits, live }: Pick<TabProps, "operation" | "digits" | "live">): ReactNode {
  const { data } = fieldsOf(body);
  if (operation.id === "klines") {
    const { bearers, chart, onTimeframe } = live;
    return (
      <AnswerChart
        window={data as KlineWindow}
        path={operation.path}
        bearers={bearers}
        credential={chart}
        onTimeframe={onTimeframe}
      />
    );
  }
  if (operation.id !== "ticks") return undefined;
  const { ticker, items } = data as TickWindow;
  return <TickChart ticker={ticker} ticks={items} digits={priceDigits(items, digits).get(ticker) ?? 0} height="h-96" />;
}

function tabsOf(answer: Answer, { operation, kept, digits, live, target }: TabProps): [Tab, ...Tab[]] {
  const rows = recordsOf(answer.body);
  const json: Tab = { value: "json", label: "JSON", content: <Body answer={answer} /> };
  const headers: Tab = { value: "headers", label: "Headers", content: <AnswerHeaders headers={answer.headers} /> };
  const timing: Tab = { value: "timing", label: "Timing", content: <TimingView timing={answer.timing} /> };
  const compare: Tab[] =
    kept.answers.length < 2 ? [] : [{ value: "compare", label: "Compare", content: <CompareView kept={kept} shown={answer} /> }];
  const about = [headers, timing, ...compare];
  if (rows === undefined) return [json, ...about];
  if (operation.id === "files") {
    const { items } = fieldsOf(answer.body).data as DataFileList;
    const files = <FilesTable files={items} target={target} bearers={live.bearers} credential={live.credential} />;
    return [{ value: "files", label: "Files", content: files }, json, ...about];
  }
  const table: Tab = { value: "table", label: "Table", content: <Records id={operation.id} rows={rows} digits={digits} /> };
  const chart = rows.length === 0 ? undefined : chartOf(answer, { operation, digits, live });
  const views: [Tab, ...Tab[]] = [json, table, ...about];
  return chart === undefined ? views : [{ value: "chart", label: "Chart", content: chart }, ...views];
}

/** The outcome of a call: its status, and the answer in the chosen view. */
export function AnswerView({ outcome, previous, busy, again, onCorrect, ...shown }: AnswerViewProps) {
  const { operation } = shown;
  const { answer, trouble } = outcome ?? {};
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    // In a single-column layout the response would appear below the fold.
    const top = outcome === undefined ? 0 : (place.current?.getBoundingClientRect().top ?? 0);
    if (top > window.innerHeight * IN_SIGHT_PART) place.current?.scrollIntoView({ block: "start" });
  }, [outcome]);
  const tabs = answer === undefined ? undefined : tabsOf(answer, shown);
  const old = previous && !busy;
  return (
    <section ref={place} aria-label="Answer" aria-busy={busy} className="flex min-w-0 scroll-mt-20 flex-col gap-4">
      <p role="status" className={`text-ink-soft text-sm leading-6 ${old ? "" : "sr-only"}`}>
        {old ? "Answer to the previous request. Press Send for that of the form." : ""}
      </p>
      <div className={`flex min-w-0 flex-col gap-4 transition-opacity ${busy || old ? "opacity-60" : ""}`}>
        {outcome === undefined ? (
          <div className="flex flex-col gap-3">
            <p className="text-ink-soft text-sm leading-6">
              {busy ? "Waiting for the response." : "Press Send to see the response here. It looks like this:"}
            </p>
            <JsonTree value={operation.example} />
          </div>
        ) : null}
        {answer === undefined ? null : <AnswerFacts answer={answer} />}
        {trouble === undefined ? null : (
          <TroubleNotice
            trouble={trouble}
            again={answer === undefined || trouble.retryAfterS !== undefined ? again : undefined}
            onCorrect={onCorrect}
          />
        )}
        {answer === undefined || trouble !== undefined ? null : <Notes notes={notesOf(operation.id, answer.body)} />}
        {tabs === undefined ? null : <Tabs key={`${operation.id} ${tabs[0].value}`} label="Answer as" tabs={tabs} />}
      </div>
    </section>
  );
}
