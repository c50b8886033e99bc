import type { PortalKey, UsageReport, UsageShare } from "#lib/contract/portal";
import { countText, shareText } from "../portal/numbers";
import type { Resource } from "../portal/use-portal";
import { Section } from "../ui/card";
import { type Column, Table } from "../ui/table";

const NONE = "No calls in this span.";

const COUNTS: readonly Column<UsageShare>[] = [
  { head: "Calls", numeric: true, cell: ({ calls }) => countText(calls) },
  { head: "Errors", numeric: true, cell: ({ errors }) => countText(errors) },
  { head: "Error rate", numeric: true, from: "sm", cell: ({ errors, calls }) => shareText(errors, calls) },
];

interface UsageTablesProps {
  readonly report: Resource<UsageReport>;
  readonly keys: readonly PortalKey[];
}

/** A key by its name, for those that are gone by the beginning of their id. */
export function keyName(keys: readonly PortalKey[], id: string): string {
  return keys.find((key) => key.id === id)?.name ?? (id === "demo" ? "Demo key" : `Key ${id.slice(0, 8)}`);
}

/** The calls of a span by key, by operation and by outcome. */
export function UsageTables({ report, keys }: UsageTablesProps) {
  const states = { failure: report.failure, retry: report.reload, empty: NONE };
  const by = report.data?.by;
  return (
    <>
      <Section title="By key">
        <Table
          {...states}
          caption="Calls by key"
          rows={by?.keys}
          rowKey={({ key_id }) => key_id}
          columns={[{ head: "Key", cell: ({ key_id }) => keyName(keys, key_id) }, ...COUNTS]}
        />
      </Section>
      <Section title="By operation">
        <Table
          {...states}
          caption="Calls by operation"
          rows={by?.operations}
          rowKey={({ operation }) => operation}
          columns={[
            { head: "Operation", cell: ({ operation }) => <code className="font-mono text-[13px]">{operation}</code> },
            ...COUNTS,
          ]}
        />
      </Section>
      <Section title="By outcome">
        <Table
          {...states}
          caption="Calls by outcome"
          rows={by?.codes}
          rowKey={({ code }) => String(code)}
          columns={[
            {
              head: "Code",
              cell: ({ code }) => (code === 0 ? "Success" : <code className="font-mono text-[13px]">{code}</code>),
            },
            { head: "Calls", numeric: true, cell: ({ calls }) => countText(calls) },
          ]}
        />
      </Section>
    </>
  );
}
