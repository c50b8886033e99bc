"use client";

import Link from "next/link";
import { useState } from "react";
import type { BackfillReport, BackfillSeriesReport, BackfillState } from "#lib/contract/portal-admin";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { Section } from "../ui/card";
import { type Column, Table } from "../ui/table";
import { fileName } from "./data/file-name";
import { ChangeImport, type Changing, type ImportChange, type Refusal, Refused } from "./import-change";

const STATES: Record<BackfillState, { tone: Tone; label: string; title: string }> = {
  running: { tone: "positive", label: "Running", title: "Reported progress within the last few minutes." },
  done: { tone: "neutral", label: "Done", title: "All files are stored." },
  failed: { tone: "danger", label: "Failed", title: "Some files are not stored. The command said why." },
  interrupted: {
    tone: "warning",
    label: "Interrupted",
    title: "Nothing of it shows. Run the same command again to continue, within a week.",
  },
  lost: {
    tone: "danger",
    label: "Lost",
    title: "Stopped reporting progress. Its process or machine probably stopped. Nothing of it shows.",
  },
};

/** Series that are named one by one. */
const NAMED_COUNT = 3;

const UNDONE = { tone: "neutral", label: "Undone", title: "The klines are as if it had never run. It can be put back." } as const;

/** What an import wrote, by ticker and timeframe. */
function Written({ series }: { series: readonly BackfillSeriesReport[] }) {
  const named = series.slice(0, NAMED_COUNT);
  const more = series.length - named.length;
  return (
    <ul className="text-ink-faint text-xs leading-5">
      {named.map(({ ticker, timeframe, first_at, last_at, stored, already_there, overwritten, covered, ticks }) => (
        <li key={`${ticker} ${timeframe}`}>
          <span className="font-medium text-ink-soft">{timeframe === "M1" ? ticker : `${ticker} ${timeframe}`}</span>{" "}
          <Instant at={first_at} /> to <Instant at={last_at} />: {countText(stored)} added, {countText(overwritten)} overwritten,{" "}
          {countText(already_there)} unchanged
          {covered > 0 ? `, ${countText(covered)} kept behind stored M1` : null}
          {ticks > 0 ? `, ${countText(ticks)} ticks kept` : null}
        </li>
      ))}
      {more > 0 ? <li>and {more === 1 ? "1 more series" : `${countText(more)} more series`}</li> : null}
    </ul>
  );
}

/** What can be done with an import now; null for nothing. */
function changeOf({ series, state, pending, undone_at }: BackfillReport): ImportChange | null {
  if (state === "running" || pending || series.length === 0) return null;
  return undone_at === null ? "undo" : "redo";
}

function Progress({ share, files, files_done, file, step, problem, doubts, series }: BackfillReport) {
  const percent = `${Math.floor(share * 100)}%`;
  return (
    <div className="w-full min-w-40 space-y-1 lg:min-w-56">
      <div className="flex items-center gap-2">
        <progress
          aria-label="Progress"
          value={share}
          max={1}
          className="h-1.5 w-full min-w-16 appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
        />
        <span className="shrink-0 font-mono text-[13px] tabular-nums">{percent}</span>
      </div>
      <p className="text-ink-faint text-xs leading-5 [overflow-wrap:anywhere]">
        {countText(files_done)} of {files === 1 ? "1 file" : `${countText(files)} files`}
        {file === "" ? null : (
          <span title={file}>
            {" "}
            · {step} {fileName(file)}
          </span>
        )}
      </p>
      {problem === null ? null : (
        <p title={problem} className="line-clamp-2 text-danger text-xs leading-5 [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
      {doubts.length === 0 ? null : (
        <p title={doubts.join("\n")} className="line-clamp-2 text-warning text-xs leading-5 [overflow-wrap:anywhere]">
          Doubtful: {doubts.join("; ")}
        </p>
      )}
      <Written series={series} />
    </div>
  );
}

const columnsOf = (changing: Changing, refusal: Refusal | undefined): readonly Column<BackfillReport>[] => [
  {
    head: "Import",
    cell: ({ number, state, venue, undone_at }) => {
      const { tone, label, title } = undone_at === null ? STATES[state] : UNDONE;
      return (
        <>
          <span className="mr-2 font-mono text-[13px] tabular-nums">{number}</span>
          <Badge tone={tone} title={title}>
            {label}
          </Badge>
          <span className="mt-1 block text-ink-faint text-xs leading-5">{venue}</span>
        </>
      );
    },
  },
  {
    head: "Progress",
    cell: (backfill) => (
      <>
        <Progress {...backfill} />
        <Refused refusal={refusal} number={backfill.number} />
      </>
    ),
  },
  { head: "Rows", numeric: true, from: "sm", cell: ({ rows }) => countText(rows) },
  {
    head: "Rows / s",
    numeric: true,
    from: "lg",
    cell: ({ rows_per_s }) => (rows_per_s === null ? "–" : countText(rows_per_s)),
  },
  { head: "Started", from: "md", cell: ({ started_at }) => <Instant at={started_at} to="second" /> },
  { head: "Last update", from: "xl", cell: ({ updated_at }) => <Instant at={updated_at} to="second" /> },
  { head: "Undo", cell: (report) => <ChangeImport number={report.number} change={changeOf(report)} {...changing} /> },
];

interface BackfillsViewProps {
  readonly backfills: readonly BackfillReport[];
  /** Reads them again when an import was undone or put back. */
  readonly onChange: () => Promise<unknown>;
}

/** Runs of the import with their progress, newest first, and the button that undoes each or puts it back. */
export function BackfillsView({ backfills, onChange }: BackfillsViewProps) {
  const [refusal, onRefused] = useState<Refusal>();
  return (
    <Section title="Backfills">
      <Table
        caption="Backfills"
        columns={columnsOf({ onRefused, onDone: onChange }, refusal)}
        rows={backfills}
        rowKey={({ id }) => id}
        empty={
          <>
            <p className="font-medium text-ink">No imports yet</p>
            <p className="mt-1">
              <Link href="/admin/data" className="text-accent underline">
                Import files
              </Link>{" "}
              of history, or use <code className="font-mono text-xs">npm run import</code>. Progress appears here.
            </p>
          </>
        }
      />
    </Section>
  );
}
