"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { ERRORS, errorDocsPath, errorOfCode } from "#lib/contract/errors";
import type { PortalKey, UsageReport, UsageShare } from "#lib/contract/portal";
import { keyName } from "../keys/key-text";
import { queryOf } from "../portal/api";
import { countText, errorsText, shareText } from "../portal/numbers";
import type { Read } from "../portal/read";
import { Section } from "../ui/card";
import { type Column, Table } from "../ui/table";
import type { UsageFilter } from "./usage-query";

const NONE = "No requests in this range.";

const UNITS: Column<UsageShare> = { head: "Units", numeric: true, cell: ({ units }) => countText(units) };
const COUNTS: readonly Column<UsageShare>[] = [
  UNITS,
  {
    head: "Requests",
    numeric: true,
    cell: ({ calls, errors }) => (
      <>
        {countText(calls)}
        {errors === 0 ? null : (
          <span className="block font-sans text-ink-faint text-xs leading-5 sm:hidden">{errorsText(errors)}</span>
        )}
      </>
    ),
  },
  { head: "Errors", numeric: true, from: "sm", cell: ({ errors }) => countText(errors) },
  { head: "Error rate", numeric: true, from: "sm", cell: ({ errors, calls }) => shareText(errors, calls) },
];

interface UsageTablesProps {
  readonly report: Read<UsageReport>;
  readonly keys: readonly PortalKey[];
  readonly filter: UsageFilter;
  /** Shows a part of these requests. */
  readonly onFilter: (filter: UsageFilter) => void;
}

interface PartProps {
  readonly children: ReactNode;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}

/** The name of a part, which shows that part alone; the chosen one leads back to all. */
function Part({ children, chosen, onChoose }: PartProps) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onChoose}
      title={chosen ? "Show all" : "Show only these requests"}
      className="text-left text-accent [overflow-wrap:anywhere] hover:underline"
    >
      {children}
      {chosen ? <span aria-hidden="true"> ×</span> : null}
    </button>
  );
}

/** The lines of the request log with this result. */
function logsOf(code: number, { keyId, operation }: UsageFilter): string {
  const status = code === 0 ? "2xx" : String(Math.floor(code / 100));
  return `/dashboard/logs${queryOf({ status, key_id: keyId, operation })}`;
}

function Outcome({ code }: { code: number }) {
  if (code === 0) return "Succeeded";
  const id = errorOfCode(code);
  if (id === undefined) return <span className="text-ink-faint">Retired error code</span>;
  return (
    <>
      {ERRORS[id].title}{" "}
      <Link
        prefetch={false}
        href={errorDocsPath(id)}
        className="ml-1 font-mono text-ink-soft text-xs underline [overflow-wrap:anywhere] hover:text-ink max-sm:ml-0 max-sm:block"
      >
        {id}
      </Link>
    </>
  );
}

/** The requests of a time range by key, by operation and by result. */
export function UsageTables({ report, keys, filter, onFilter }: UsageTablesProps) {
  const states = { failure: report.error, retry: () => void report.mutate(), empty: NONE };
  const by = report.data?.by;
  const total = by?.codes.reduce((sum, { calls }) => sum + calls, 0) ?? 0;
  return (
    <>
      <Section title="By key">
        <Table
          {...states}
          caption="Requests by key"
          rows={by?.keys}
          rowKey={({ key_id }) => key_id}
          columns={[
            {
              head: "Key",
              grow: true,
              cell: ({ key_id }) => (
                <Part
                  chosen={filter.keyId === key_id}
                  onChoose={() => onFilter({ ...filter, keyId: filter.keyId === key_id ? "" : key_id })}
                >
                  {keyName(keys, key_id)}
                </Part>
              ),
            },
            ...COUNTS,
          ]}
        />
      </Section>
      <Section title="By operation">
        <Table
          {...states}
          caption="Requests by operation"
          rows={by?.operations}
          rowKey={({ operation }) => operation}
          columns={[
            {
              head: "Operation",
              grow: true,
              cell: ({ operation }) => (
                <Part
                  chosen={filter.operation === operation}
                  onChoose={() => onFilter({ ...filter, operation: filter.operation === operation ? "" : operation })}
                >
                  <code className="font-mono text-[13px]">{operation}</code>
                </Part>
              ),
            },
            ...COUNTS,
          ]}
        />
      </Section>
      <Section title="By result">
        <Table
          {...states}
          caption="Requests by result"
          rows={by?.codes}
          rowKey={({ code }) => String(code)}
          columns={[
            { head: "Code", cell: ({ code }) => <code className="font-mono text-[13px] tabular-nums">{code}</code> },
            { head: "Result", grow: true, cell: ({ code }) => <Outcome code={code} /> },
            {
              head: "Requests",
              numeric: true,
              cell: ({ code, calls }) => (
                <Link
                  prefetch={false}
                  href={logsOf(code, filter)}
                  title="Show in the logs"
                  className="text-accent hover:underline"
                >
                  {countText(calls)}
                </Link>
              ),
            },
            { head: "Share", numeric: true, from: "sm", cell: ({ calls }) => shareText(calls, total) },
            { ...UNITS, from: "sm" },
          ]}
        />
      </Section>
    </>
  );
}
