"use client";

import type { BackfillReport, BackfillState } from "#lib/contract/portal-admin";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { Section } from "../ui/card";
import { type Column, Table } from "../ui/table";

const STATES: Record<BackfillState, { tone: Tone; label: string; title: string }> = {
  running: { tone: "positive", label: "Running", title: "Reported progress within the last few minutes." },
  done: { tone: "neutral", label: "Done", title: "All files are stored and longer timeframes rebuilt." },
  failed: { tone: "danger", label: "Failed", title: "Some files are not stored. Run the same command again to continue." },
  interrupted: { tone: "warning", label: "Interrupted", title: "Stopped by hand. Run the same command again to continue." },
  lost: { tone: "danger", label: "Lost", title: "Stopped reporting progress. Its process or machine probably stopped." },
};

function Progress({ share, files, files_done, file, step, problem }: BackfillReport) {
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
        {step === "" ? null : (
          <span title={file}>
            {" "}
            · {step} {file.split(/[\\/]/).at(-1)}
          </span>
        )}
      </p>
      {problem === null ? null : (
        <p title={problem} className="line-clamp-2 text-danger text-xs leading-5 [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<BackfillReport>[] = [
  {
    head: "State",
    cell: ({ state, venue }) => (
      <>
        <Badge tone={STATES[state].tone} title={STATES[state].title}>
          {STATES[state].label}
        </Badge>
        <span className="mt-1 block text-ink-faint text-xs leading-5">{venue}</span>
      </>
    ),
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
];

/** Runs of the import with their progress, newest first. */
export function BackfillsView({ backfills }: { backfills: readonly BackfillReport[] }) {
  return (
    <Section title="Backfills">
      <Table
        caption="Backfills"
        columns={COLUMNS}
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
