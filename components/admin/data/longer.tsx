import type { DataLongerImport } from "#lib/contract/portal-data";
import { countText } from "../../portal/numbers";
import { Instant } from "../../portal/time";
import { Badge } from "../../ui/badge";
import { Section } from "../../ui/card";
import { type Column, Table } from "../../ui/table";
import { fileName } from "./file-name";

const COLUMNS: readonly Column<DataLongerImport>[] = [
  {
    head: "Import",
    grow: true,
    cell: ({ number, file, undone_at }) => (
      <>
        <span className="[overflow-wrap:anywhere]">
          Import {number} · {fileName(file)}
        </span>
        {undone_at === null ? null : <Badge tone="neutral">Undone</Badge>}
      </>
    ),
  },
  { head: "Timeframe", cell: ({ timeframe }) => <span className="font-mono text-[13px]">{timeframe}</span> },
  { head: "Klines", numeric: true, cell: ({ stored }) => countText(stored) },
  { head: "Behind M1", numeric: true, from: "sm", cell: ({ covered }) => countText(covered) },
  { head: "From", numeric: true, from: "lg", cell: ({ first_at }) => <Instant at={first_at} /> },
  { head: "To", numeric: true, from: "lg", cell: ({ last_at }) => <Instant at={last_at} /> },
];

/** Klines that were imported as hours, days or other timeframes above M1. */
export function LongerImports({ imports }: { imports: readonly DataLongerImport[] }) {
  if (imports.length === 0) return null;
  return (
    <Section title="Imported longer timeframes">
      <Table
        caption="Imported longer timeframes"
        columns={COLUMNS}
        rows={imports}
        rowKey={({ number, timeframe }) => `${number} ${timeframe}`}
        empty="None."
      />
      <p className="mt-2 text-ink-faint text-xs leading-5">
        They show where no M1 klines are stored. Those behind M1 had minutes in their interval when they were imported.
      </p>
    </Section>
  );
}
