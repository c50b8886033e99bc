"use client";

import { useState } from "react";
import type { DataGap, DataYear } from "#lib/contract/portal-data";
import { GAP_REASONS } from "#lib/data-words";
import { durationText } from "#lib/duration";
import { MINUTE_MS } from "#lib/units";
import { countText } from "../../portal/numbers";
import { Instant, ZoneName } from "../../portal/time";
import { Button } from "../../ui/button";
import { Section } from "../../ui/card";
import { CodeBlock } from "../../ui/code-block";
import { Dialog, DialogActions } from "../../ui/dialog";
import { Older } from "../../ui/older";
import { type Column, Table } from "../../ui/table";

const PAGE_ROWS = 10;

/** How to fill a gap: the command, and what its file has to contain. */
function ImportDialog({ ticker, gap, onClose }: { ticker: string; gap: DataGap; onClose: () => void }) {
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Import here"
      description={
        <>
          The file needs the minutes from <Instant at={gap.from} /> to <Instant at={gap.to} /> (<ZoneName />
          ). It may contain more: klines that are already stored with the same values stay as they are.
        </>
      }
    >
      <CodeBlock label="Try it first with --dry-run">{`npm run import -- --ticker ${ticker} FILE`}</CodeBlock>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  );
}

function columnsOf(onImport: (gap: DataGap) => void): readonly Column<DataGap>[] {
  return [
    {
      head: "From",
      cell: ({ from, open_minutes }) => (
        <>
          <Instant at={from} />
          <span className="block text-ink-faint text-xs leading-5 sm:hidden">
            {durationText(open_minutes * MINUTE_MS)} of open time
          </span>
        </>
      ),
    },
    { head: "To", from: "sm", cell: ({ to }) => <Instant at={to} /> },
    { head: "Open time missing", numeric: true, from: "sm", cell: ({ open_minutes }) => durationText(open_minutes * MINUTE_MS) },
    { head: "Why", from: "md", grow: true, cell: ({ reason }) => GAP_REASONS[reason] },
    {
      head: "Fill",
      cell: (gap) => (
        <Button onClick={() => onImport(gap)}>
          Import…
          <span className="sr-only">
            {" "}
            from <Instant at={gap.from} />
          </span>
        </Button>
      ),
    },
  ];
}

interface GapsProps {
  readonly ticker: string;
  readonly years: readonly DataYear[] | undefined;
  readonly complete: boolean;
}

/** Open hours without klines, longest first. */
export function Gaps({ ticker, years, complete }: GapsProps) {
  const [shown, setShown] = useState(PAGE_ROWS);
  const [asked, setAsked] = useState<DataGap>();
  const listed = years?.flatMap(({ gaps }) => gaps).sort((a, b) => b.open_minutes - a.open_minutes);
  const count = years?.reduce((sum, { gap_count }) => sum + gap_count, 0) ?? 0;
  const isUnknown = years?.some(({ minutes }) => minutes === null) ?? false;
  return (
    <Section title="Gaps" aside={count === 0 ? undefined : `${countText(count)}, longest first`}>
      <Table
        caption="Gaps"
        columns={columnsOf(setAsked)}
        rows={listed?.slice(0, shown)}
        rowKey={({ from, reason }) => `${from} ${reason}`}
        empty={
          isUnknown
            ? "The calendar of this instrument does not say when its market is open, so gaps cannot be found."
            : complete
              ? "No gaps: from the first stored minute to the last, every minute in which the market was open is stored."
              : "No gaps so far. Earlier years are being read…"
        }
      />
      <Older busy={false} more={(listed?.length ?? 0) > shown ? () => setShown(shown + PAGE_ROWS) : undefined}>
        Show more gaps
      </Older>
      {listed !== undefined && listed.length <= shown && count > listed.length ? (
        <p className="mt-2 text-ink-faint text-xs leading-5">
          {countText(count - listed.length)} shorter gaps are not listed. Gaps end with the year.
        </p>
      ) : null}
      {asked === undefined ? null : <ImportDialog ticker={ticker} gap={asked} onClose={() => setAsked(undefined)} />}
    </Section>
  );
}
