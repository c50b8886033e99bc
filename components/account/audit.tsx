"use client";

import type { AuditLogEntry } from "#lib/contract/portal";
import { Changes } from "../portal/changes";
import { usePages } from "../portal/read";
import { Instant } from "../portal/time";
import { Older } from "../ui/older";
import { Table } from "../ui/table";

/** The changes to the account, newest first. */
export function Audit() {
  const log = usePages<AuditLogEntry>("audit", "");
  return (
    <>
      <Table
        caption="Changes to this account"
        rows={log.items}
        rowKey={({ id }) => id}
        failure={log.failure}
        retry={log.reload}
        empty="No changes yet. Each change appears here with who made it and from where."
        expected={4}
        columns={[
          { head: "Time", from: "sm", cell: ({ at }) => <Instant at={at} /> },
          {
            head: "Action",
            cell: ({ at, action, target }) => (
              <>
                <code className="block font-mono text-[13px] leading-5">{action}</code>
                <span className="line-clamp-2 text-ink-soft text-xs leading-5 [overflow-wrap:anywhere]" title={target}>
                  {target}
                </span>
                <span className="block text-ink-faint text-xs leading-5 sm:hidden">
                  <Instant at={at} />
                </span>
              </>
            ),
          },
          { head: "Change", grow: true, cell: ({ before, after }) => <Changes before={before} after={after} /> },
          {
            head: "By",
            from: "md",
            cell: ({ actor, address }) => (
              <>
                <span className="block w-36 truncate leading-5" title={actor}>
                  {actor}
                </span>
                <span className="block text-ink-faint text-xs leading-5">{address ?? "–"}</span>
              </>
            ),
          },
        ]}
      />
      <Older busy={log.busy} more={log.more}>
        Older changes
      </Older>
    </>
  );
}
