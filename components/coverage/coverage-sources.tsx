import type { CoverageSource } from "#lib/contract/coverage";
import { SOURCE_NAMES } from "#lib/data-words";
import { countText, shareText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Section } from "../ui/card";
import { type Column, Table } from "../ui/table";

const columnsOf = (total: number): readonly Column<CoverageSource>[] => [
  {
    head: "Source",
    grow: true,
    cell: ({ kind, provider, count }) => (
      <>
        {SOURCE_NAMES[kind]}
        {provider === null ? null : `: ${provider}`}
        {count === null ? null : <span className="block text-ink-faint text-xs leading-5">{countText(count)} in all</span>}
      </>
    ),
  },
  { head: "M1 klines", numeric: true, cell: ({ rows }) => countText(rows) },
  { head: "Share", numeric: true, from: "sm", cell: ({ rows }) => shareText(rows, total) },
  { head: "From", numeric: true, from: "md", cell: ({ first_month }) => first_month },
  { head: "To", numeric: true, from: "md", cell: ({ last_month }) => last_month },
  { head: "Last one", numeric: true, from: "sm", cell: ({ last_at }) => <Instant at={last_at} /> },
];

/** Where the klines that show come from. */
export function CoverageSources({ sources }: { sources: readonly CoverageSource[] }) {
  const total = sources.reduce((sum, { rows }) => sum + rows, 0);
  return (
    <Section title="Sources">
      <Table
        caption="Sources"
        columns={columnsOf(total)}
        rows={sources}
        rowKey={({ kind, provider }) => `${kind} ${provider}`}
        empty="No source has klines of this instrument."
      />
    </Section>
  );
}
