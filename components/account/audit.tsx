"use client";

import type { AuditLogEntry } from "#lib/contract/portal";
import { Changes } from "../portal/changes";
import { usePages } from "../portal/read";
import { Instant } from "../portal/time";
import { Older } from "../ui/older";
import { Table } from "../ui/table";
import { eventText } from "./event-text";

/** Actions whose values say more than their sentence. */
const DETAILED: ReadonlySet<string> = new Set(["key.create", "key.edit", "account.change", "organisation.change"]);

function Event({ entry }: { entry: AuditLogEntry }) {
  const { at, action, target, before, after } = entry;
  return (
    <>
      <span className="block leading-5 [overflow-wrap:anywhere]" title={`${action} ${target}`}>
        {eventText(entry) ?? `${action} ${target}`}
      </span>
      <span className="block text-ink-faint text-xs leading-5 sm:hidden">
        <Instant at={at} />
      </span>
      {DETAILED.has(action) ? (
        <details className="mt-1 text-xs leading-5">
          <summary className="cursor-pointer text-ink-soft hover:text-ink">Details</summary>
          <Changes before={before} after={after} />
        </details>
      ) : null}
    </>
  );
}

/** The changes to the organisation that the reader may see, newest first. @param query with its question mark, for those of one member */
export function Audit({ query = "" }: { query?: string }) {
  const log = usePages<AuditLogEntry>("audit", query);
  return (
    <>
      <Table
        caption="Changes"
        rows={log.items}
        rowKey={({ id }) => id}
        failure={log.failure}
        retry={log.reload}
        empty="No changes yet. Each change appears here with who made it and from where."
        expected={4}
        columns={[
          { head: "Time", from: "sm", cell: ({ at }) => <Instant at={at} /> },
          { head: "Event", grow: true, cell: (entry) => <Event entry={entry} /> },
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
