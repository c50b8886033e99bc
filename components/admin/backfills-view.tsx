"use client";

import { useState } from "react";
import type { BackfillReport, BackfillSeriesReport, BackfillState } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { Button } from "../ui/button";
import { Section } from "../ui/card";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { type Column, Table } from "../ui/table";
import { useToast } from "../ui/toast";
import { fileName } from "./data/file-name";

const STATES: Record<BackfillState, { tone: Tone; label: string; title: string }> = {
  running: { tone: "positive", label: "Running", title: "Reported progress within the last few minutes." },
  done: { tone: "neutral", label: "Done", title: "All files are stored and longer timeframes rebuilt." },
  failed: { tone: "danger", label: "Failed", title: "Some files are not stored. Run the same command again to continue." },
  interrupted: { tone: "warning", label: "Interrupted", title: "Stopped by hand. Run the same command again to continue." },
  lost: { tone: "danger", label: "Lost", title: "Stopped reporting progress. Its process or machine probably stopped." },
};

/** Series that are named one by one. */
const NAMED_COUNT = 3;

const UNDONE = { tone: "neutral", label: "Undone", title: "The klines are as if it had never run." } as const;

/** What an import wrote, by ticker and timeframe. */
function Written({ series }: { series: readonly BackfillSeriesReport[] }) {
  const named = series.slice(0, NAMED_COUNT);
  const more = series.length - named.length;
  return (
    <ul className="text-ink-faint text-xs leading-5">
      {named.map(({ ticker, timeframe, first_at, last_at, stored, already_there, overwritten, covered }) => (
        <li key={`${ticker} ${timeframe}`}>
          <span className="font-medium text-ink-soft">{timeframe === "M1" ? ticker : `${ticker} ${timeframe}`}</span>{" "}
          <Instant at={first_at} /> to <Instant at={last_at} />: {countText(stored)} added, {countText(overwritten)} overwritten,{" "}
          {countText(already_there)} unchanged
          {covered > 0 ? `, ${countText(covered)} kept behind stored M1` : null}
        </li>
      ))}
      {more > 0 ? <li>and {more === 1 ? "1 more series" : `${countText(more)} more series`}</li> : null}
    </ul>
  );
}

/** The button that undoes an import, with its confirmation dialog. */
function Undo({ report, onDone }: { report: BackfillReport; onDone: () => void }) {
  const announce = useToast();
  const [open, setOpen] = useState(false);
  const { number, series, state, undone_at, sealed } = report;
  if (undone_at !== null || sealed || state === "running" || series.length === 0) return null;
  const done = () => {
    setOpen(false);
    onDone();
    announce(`Import ${number} is undone.`);
  };
  return (
    <>
      <Button onClick={() => setOpen(true)} aria-label={`Undo import ${number}`}>
        Undo…
      </Button>
      {open ? (
        <ConfirmDialog
          title={`Undo import ${number}`}
          description={
            <>
              Removes the klines that it added, restores those that it overwrote, and rebuilds M5 to MN1. Clients receive the
              result at once. Its files can be imported again.
            </>
          }
          word={String(number)}
          action="Undo import"
          send={() => callPortal("POST", `admin/imports/${number}/undo`)}
          onDone={done}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

function Progress({ share, files, files_done, file, step, problem, doubts, series }: BackfillReport) {
  const percent = `${Math.floor(share * 100)} %`;
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

const columnsOf = (onUndone: () => void): readonly Column<BackfillReport>[] => [
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
  { head: "Progress", cell: (backfill) => <Progress {...backfill} /> },
  { head: "Rows", numeric: true, from: "sm", cell: ({ rows }) => countText(rows) },
  {
    head: "Rows / s",
    numeric: true,
    from: "lg",
    cell: ({ rows_per_s }) => (rows_per_s === null ? "–" : countText(rows_per_s)),
  },
  { head: "Started", from: "md", cell: ({ started_at }) => <Instant at={started_at} to="second" /> },
  { head: "Last update", from: "xl", cell: ({ updated_at }) => <Instant at={updated_at} to="second" /> },
  { head: "Undo", cell: (report) => <Undo report={report} onDone={onUndone} /> },
];

interface BackfillsViewProps {
  readonly backfills: readonly BackfillReport[];
  /** Called when an import was undone. */
  readonly onUndone: () => void;
}

/** Runs of the import with their progress, newest first, and the button that undoes each. */
export function BackfillsView({ backfills, onUndone }: BackfillsViewProps) {
  return (
    <Section title="Backfills">
      <Table
        caption="Backfills"
        columns={columnsOf(onUndone)}
        rows={backfills}
        rowKey={({ id }) => id}
        empty={
          <>
            <p className="font-medium text-ink">No imports yet</p>
            <p className="mt-1">
              <code className="font-mono text-xs">npm run import</code> loads the history of a ticker from files. Its progress
              appears here.
            </p>
          </>
        }
      />
    </Section>
  );
}
