"use client";

import type { AuditLogEntry } from "#lib/contract/portal";
import { Changes } from "../portal/changes";
import { usePages } from "../portal/read";
import { Instant } from "../portal/time";
import { Button } from "../ui/button";
import { PageHead } from "../ui/card";
import { Older } from "../ui/older";
import { type Column, Table } from "../ui/table";
import { Address } from "./address";

const COLUMNS: readonly Column<AuditLogEntry>[] = [
  { head: "Time", from: "sm", cell: ({ at }) => <Instant at={at} to="second" /> },
  {
    head: "Action",
    cell: ({ at, action, target, actor }) => (
      <>
        <span className="block text-xs leading-5 sm:hidden">
          <Instant at={at} to="second" />
        </span>
        <code className="block font-mono text-[13px]">{action}</code>
        <span className="block text-xs leading-5">
          <Address>{target}</Address>
        </span>
        <span className="block text-ink-faint text-xs leading-5 lg:hidden">
          <Address>{actor}</Address>
        </span>
      </>
    ),
  },
  { head: "Actor", from: "lg", cell: ({ actor }) => <Address>{actor}</Address> },
  { head: "From", from: "xl", cell: ({ address }) => <span className="font-mono text-[13px]">{address ?? "–"}</span> },
  { head: "Changes", cell: ({ before, after }) => <Changes before={before} after={after} /> },
];

/** All changes to accounts, keys, plans, calendars and history of the installation. */
export function AuditView() {
  const log = usePages<AuditLogEntry>("admin/audit", "");
  return (
    <>
      <PageHead title="Audit log" action={<Button onClick={log.reload}>Refresh</Button>}>
        Who changed what, newest first. Secrets are never recorded.
      </PageHead>
      <Table
        caption="Audit log"
        columns={COLUMNS}
        rows={log.items}
        rowKey={({ id }) => id}
        failure={log.failure}
        retry={log.reload}
        expected={8}
        empty={<p>No changes yet.</p>}
      />
      <Older busy={log.busy} more={log.more}>
        Older entries
      </Older>
    </>
  );
}
