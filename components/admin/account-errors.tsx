"use client";

import { useState } from "react";
import type { PortalKey, RequestLogEntry, UsageReport } from "#lib/contract/portal";
import { keyName } from "../keys/key-text";
import { RecentErrors } from "../overview/recent-errors";
import { queryOf } from "../portal/api";
import { usePages } from "../portal/read";
import { Instant } from "../portal/time";
import { Older } from "../ui/older";
import { type Column, Table } from "../ui/table";

const columns = (keys: readonly PortalKey[]): readonly Column<RequestLogEntry>[] => [
  { head: "Time", cell: ({ at }) => <Instant at={at} to="second" /> },
  {
    head: "Request",
    grow: true,
    cell: ({ method, path, detail }) => (
      <>
        <code className="block font-mono text-[13px] leading-6 [overflow-wrap:anywhere]">
          {method} {path}
        </code>
        <span className="block text-ink-soft text-xs leading-5 [overflow-wrap:anywhere]">{detail}</span>
      </>
    ),
  },
  { head: "Key", from: "md", cell: ({ key_id }) => keyName(keys, key_id) },
];

interface LogProps {
  readonly accountId: string;
  readonly code: number;
  readonly keys: readonly PortalKey[];
}

/** The newest requests of an account that were refused with an error. */
function ErrorLog({ accountId, code, keys }: LogProps) {
  const log = usePages<RequestLogEntry>(`admin/accounts/${accountId}/logs`, queryOf({ status: String(code) }));
  return (
    <div className="mt-4">
      <Table
        caption={`Requests with the error ${code}`}
        columns={columns(keys)}
        rows={log.items}
        rowKey={({ id }) => id}
        failure={log.failure}
        retry={log.reload}
        expected={3}
        empty="These requests are no longer in the log."
      />
      <Older busy={log.busy} more={log.more}>
        Older requests
      </Older>
    </div>
  );
}

interface AccountErrorsProps {
  readonly accountId: string;
  readonly report: UsageReport;
  readonly keys: readonly PortalKey[];
}

/** The most frequent errors of an account by their codes, and on request the log of one. Its owner sees that an operator read it. */
export function AccountErrors({ accountId, report, keys }: AccountErrorsProps) {
  const [code, setCode] = useState<number>();
  return (
    <>
      <RecentErrors
        report={report}
        when="in the last 30 days"
        toLog={(one, text) => (
          <button
            type="button"
            aria-pressed={one === code}
            onClick={() => setCode(one === code ? undefined : one)}
            className="text-accent hover:underline"
          >
            {text}
          </button>
        )}
      />
      {code === undefined ? null : <ErrorLog key={code} accountId={accountId} code={code} keys={keys} />}
    </>
  );
}
