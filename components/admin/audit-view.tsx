"use client";

import { usePathname, useRouter, useSearchParams } from "next/navigation";
import type { AuditLogEntry } from "#lib/contract/portal";
import { eventText } from "../account/event-text";
import { queryOf } from "../portal/api";
import { Changes } from "../portal/changes";
import { usePages } from "../portal/read";
import { Instant } from "../portal/time";
import { Button } from "../ui/button";
import { PageHead } from "../ui/card";
import { Older } from "../ui/older";
import { SearchField } from "../ui/search-field";
import { Select } from "../ui/select";
import { type Column, Table } from "../ui/table";
import { Address } from "./address";

const COLUMNS: readonly Column<AuditLogEntry>[] = [
  { head: "Time", from: "sm", cell: ({ at }) => <Instant at={at} to="second" /> },
  {
    head: "Action",
    cell: (entry) => (
      <>
        <span className="block text-xs leading-5 sm:hidden">
          <Instant at={entry.at} to="second" />
        </span>
        <span className="block leading-5 [overflow-wrap:anywhere] empty:hidden">{eventText(entry)}</span>
        <code className="block font-mono text-ink-soft text-xs leading-5">{entry.action}</code>
        <span className="block text-xs leading-5">
          <Address>{entry.target}</Address>
        </span>
        <span className="block text-ink-faint text-xs leading-5 lg:hidden">
          <Address>{entry.actor}</Address>
        </span>
      </>
    ),
  },
  {
    head: "Actor",
    from: "lg",
    cell: ({ actor, address }) => (
      <>
        <span title={actor} className="block max-w-44 truncate">
          {actor}
        </span>
        <span className="block font-mono text-ink-faint text-xs leading-5">{address ?? "–"}</span>
      </>
    ),
  },
  { head: "Changes", cell: ({ before, after }) => <Changes before={before} after={after} /> },
];

/** All changes to accounts, keys, plans, calendars and history of the installation; the filters are kept in the URL. */
export function AuditView({ kinds }: { kinds: readonly string[] }) {
  const router = useRouter();
  const path = usePathname();
  const asked = useSearchParams();
  const filter = { kind: asked.get("kind") ?? "", q: asked.get("q") ?? "" };
  const log = usePages<AuditLogEntry>("admin/audit", queryOf(filter));
  const go = (next: typeof filter) => router.replace(path + queryOf(next), { scroll: false });
  return (
    <>
      <PageHead title="Audit log" action={<Button onClick={log.reload}>Refresh</Button>}>
        Who changed what, newest first. Secrets are never recorded.
      </PageHead>
      <div className="mb-4 grid gap-2 sm:grid-cols-[12rem_minmax(0,1fr)]">
        <Select
          aria-label="Kind"
          options={[{ value: "", label: "All kinds" }, ...kinds.map((value) => ({ value, label: value.replaceAll("_", " ") }))]}
          value={filter.kind}
          onChange={(kind) => go({ ...filter, kind })}
        />
        <SearchField label="Actor or target" value={filter.q} onSearch={(q) => go({ ...filter, q })} />
      </div>
      <Table
        caption="Audit log"
        columns={COLUMNS}
        rows={log.items}
        rowKey={({ id }) => id}
        failure={log.failure}
        retry={log.reload}
        expected={8}
        empty={<p>{filter.kind === "" && filter.q === "" ? "No changes yet." : "No entries match these filters."}</p>}
      />
      <Older busy={log.busy} more={log.more}>
        Older entries
      </Older>
    </>
  );
}
