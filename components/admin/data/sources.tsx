import Link from "next/link";
import type { DataImport, DataYear } from "#lib/contract/portal-data";
import { countText } from "../../portal/numbers";
import { Utc } from "../../portal/utc";
import { Badge } from "../../ui/badge";
import { Section } from "../../ui/card";
import { type Column, Table } from "../../ui/table";
import { fileName } from "./file-name";

/** A source of a ticker's klines, and how many of them are its own today. */
export interface SourceRow {
  /** The number of an import, or null for feeds. */
  readonly batch: number | null;
  readonly rows: number;
  readonly first_at: string;
  readonly last_at: string;
  readonly from: DataImport | null;
}

/** The sources of a ticker, newest import first, feeds last. Undone imports have no klines that show, but stay listed. */
export function sourcesOf(years: readonly DataYear[], imports: readonly DataImport[]): SourceRow[] {
  const found = new Map<number | null, SourceRow>(
    imports.map((from) => [from.number, { batch: from.number, rows: 0, first_at: from.first_at, last_at: from.last_at, from }]),
  );
  for (const { batch, rows, first_at, last_at } of years.flatMap(({ sources }) => sources)) {
    const known = found.get(batch);
    const isFirst = known === undefined || known.rows === 0;
    found.set(batch, {
      batch,
      rows: rows + (known?.rows ?? 0),
      first_at: isFirst || first_at < known.first_at ? first_at : known.first_at,
      last_at: isFirst || last_at > known.last_at ? last_at : known.last_at,
      from: known?.from ?? null,
    });
  }
  return [...found.values()].sort((a, b) => (b.batch ?? 0) - (a.batch ?? 0));
}

/** What a source is called. */
export function sourceName({ batch, from }: SourceRow): string {
  if (batch === null) return "Feed, or an early release";
  const file = fileName(from?.file ?? "");
  return `Import ${batch}${file === "" ? "" : ` · ${file}`}${(from?.files ?? 1) > 1 ? ` and ${countText((from?.files ?? 1) - 1)} more` : ""}`;
}

const COLUMNS: readonly Column<SourceRow>[] = [
  {
    head: "Source",
    grow: true,
    cell: (source) => (
      <>
        <span className="[overflow-wrap:anywhere]">{sourceName(source)}</span>
        {source.from === null ? null : (
          <span className="block text-ink-faint text-xs leading-5">
            {countText(source.from.stored)} added, {countText(source.from.overwritten)} overwritten,{" "}
            {countText(source.from.already_there)} unchanged
            {source.from.doubts.map((doubt) => (
              <span key={doubt} className="block text-warning [overflow-wrap:anywhere]">
                Doubtful: {doubt}
              </span>
            ))}
          </span>
        )}
      </>
    ),
  },
  { head: "M1 klines today", numeric: true, cell: ({ rows }) => countText(rows) },
  { head: "From, UTC", numeric: true, from: "lg", cell: ({ first_at }) => <Utc at={first_at} /> },
  { head: "To, UTC", numeric: true, from: "lg", cell: ({ last_at }) => <Utc at={last_at} /> },
  {
    head: "Undo",
    cell: ({ from }) => {
      if (from === null) return <span className="text-ink-faint">–</span>;
      if (from.undone_at !== null) return <Badge tone="neutral">Undone</Badge>;
      if (from.sealed)
        return (
          <Badge tone="neutral" title="It cannot be undone: an earlier release deleted what it overwrote.">
            Kept
          </Badge>
        );
      return (
        <Link href="/admin/feeds" className="whitespace-nowrap text-accent hover:underline">
          On Feeds
        </Link>
      );
    },
  },
];

/** Where the klines come from. */
export function Sources({ sources }: { sources: readonly SourceRow[] | undefined }) {
  return (
    <Section title="Sources">
      <Table
        caption="Sources"
        columns={COLUMNS}
        rows={sources}
        rowKey={({ batch }) => String(batch)}
        empty="No import or feed wrote klines of this instrument."
      />
    </Section>
  );
}
