import Link from "next/link";
import { ERRORS, type ErrorId, errorDocsPath } from "#lib/contract/errors";
import type { PortalKey, UsageReport, UsageShare } from "#lib/contract/portal";
import { keyName } from "../keys/key-text";
import { countText, shareText } from "../portal/numbers";
import type { Read } from "../portal/read";
import { Section } from "../ui/card";
import { type Column, Table } from "../ui/table";

const NONE = "No calls in this range.";

const COUNTS: readonly Column<UsageShare>[] = [
  { head: "Calls", numeric: true, cell: ({ calls }) => countText(calls) },
  { head: "Errors", numeric: true, cell: ({ errors }) => countText(errors) },
  { head: "Error rate", numeric: true, from: "sm", cell: ({ errors, calls }) => shareText(errors, calls) },
];

interface UsageTablesProps {
  readonly report: Read<UsageReport>;
  readonly keys: readonly PortalKey[];
}

/** Titles by error code. A retired code has none. */
const OUTCOMES = new Map(
  (Object.keys(ERRORS) as ErrorId[]).map((id) => [ERRORS[id].code as number, { id, title: ERRORS[id].title }]),
);

function Outcome({ code }: { code: number }) {
  if (code === 0) return "Succeeded";
  const known = OUTCOMES.get(code);
  if (known === undefined) return <span className="text-ink-faint">Retired error code</span>;
  return (
    <>
      {known.title}{" "}
      <Link
        prefetch={false}
        href={errorDocsPath(known.id)}
        className="ml-1 font-mono text-ink-soft text-xs underline [overflow-wrap:anywhere] hover:text-ink max-sm:ml-0 max-sm:block"
      >
        {known.id}
      </Link>
    </>
  );
}

/** The calls of a time range by key, by operation and by result. */
export function UsageTables({ report, keys }: UsageTablesProps) {
  const states = { failure: report.error, retry: () => void report.mutate(), empty: NONE };
  const by = report.data?.by;
  const total = by?.codes.reduce((sum, { calls }) => sum + calls, 0) ?? 0;
  return (
    <>
      <Section title="By key">
        <Table
          {...states}
          caption="Calls by key"
          rows={by?.keys}
          rowKey={({ key_id }) => key_id}
          columns={[
            {
              head: "Key",
              grow: true,
              cell: ({ key_id }) => <span className="[overflow-wrap:anywhere]">{keyName(keys, key_id)}</span>,
            },
            ...COUNTS,
          ]}
        />
      </Section>
      <Section title="By operation">
        <Table
          {...states}
          caption="Calls by operation"
          rows={by?.operations}
          rowKey={({ operation }) => operation}
          columns={[
            {
              head: "Operation",
              grow: true,
              cell: ({ operation }) => <code className="font-mono text-[13px]">{operation}</code>,
            },
            ...COUNTS,
          ]}
        />
      </Section>
      <Section title="By result">
        <Table
          {...states}
          caption="Calls by result"
          rows={by?.codes}
          rowKey={({ code }) => String(code)}
          columns={[
            { head: "Code", cell: ({ code }) => <code className="font-mono text-[13px] tabular-nums">{code}</code> },
            { head: "Result", grow: true, cell: ({ code }) => <Outcome code={code} /> },
            { head: "Calls", numeric: true, cell: ({ calls }) => countText(calls) },
            { head: "Share", numeric: true, from: "sm", cell: ({ calls }) => shareText(calls, total) },
          ]}
        />
      </Section>
    </>
  );
}
