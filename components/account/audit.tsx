"use client";

import type { AuditLogEntry } from "#lib/contract/portal";
import { Instant } from "../portal/time";
import { usePages } from "../portal/use-pages";
import { Button } from "../ui/button";
import { Table } from "../ui/table";

/** A value of a change in one line. */
function valueText(value: unknown): string {
  return value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
}

function Change({ entry: { before, after } }: { entry: AuditLogEntry }) {
  if (before === null && after === null) return <span className="text-ink-faint">–</span>;
  return (
    <span className="block max-w-44 truncate font-mono text-xs" title={`${valueText(before)} → ${valueText(after)}`}>
      {before === null ? null : <>{valueText(before)} → </>}
      {valueText(after)}
    </span>
  );
}

/** Who changed what about the account, newest first. */
export function Audit() {
  const log = usePages<AuditLogEntry>("audit", "");
  return (
    <>
      <Table
        caption="Changes of this account"
        rows={log.items}
        rowKey={({ id }) => id}
        failure={log.failure}
        retry={log.reload}
        empty="Nothing was changed yet. What is shows up here, with who did it and from where."
        expected={4}
        columns={[
          { head: "Time", cell: ({ at }) => <Instant at={at} /> },
          { head: "Action", cell: ({ action }) => <code className="font-mono text-[13px]">{action}</code> },
          {
            head: "What",
            from: "sm",
            cell: ({ target }) => (
              <span className="block max-w-32 truncate" title={target}>
                {target}
              </span>
            ),
          },
          { head: "Change", from: "lg", cell: (entry) => <Change entry={entry} /> },
          {
            head: "By",
            from: "md",
            cell: ({ actor, address }) => (
              <>
                <span className="block max-w-40 truncate">{actor}</span>
                <span className="block text-ink-faint text-xs">{address ?? ""}</span>
              </>
            ),
          },
        ]}
      />
      {log.more === undefined ? null : (
        <div className="mt-4 flex justify-center">
          <Button busy={log.busy} onClick={log.more}>
            Older changes
          </Button>
        </div>
      )}
    </>
  );
}
