"use client";

import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import type { PortalKey, RequestLogEntry } from "#lib/contract/portal";
import { LOG_EXPORT_MAX_ROWS } from "#lib/contract/portal-activity";
import { SECOND_MS } from "#lib/units";
import { keyName } from "../keys/key-text";
import { queryOf } from "../portal/api";
import { countText, msText } from "../portal/numbers";
import { usePages, usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { Button, buttonClass } from "../ui/button";
import { PageHead } from "../ui/card";
import { MiddleCut } from "../ui/middle-cut";
import { Older } from "../ui/older";
import { type Column, Table } from "../ui/table";
import { isBurstRefusal } from "./burst-refusal";
import { LogDetailDialog } from "./log-detail";
import { type LogFilter, LogFilters } from "./log-filters";
import { LogHistogram } from "./log-histogram";

/** The common prefix of market paths, omitted on narrow screens. */
const MARKET = "/api/v1/market";

/** Requests are written every two seconds. */
const TAIL_MS = 2 * SECOND_MS;

function toneOf(status: number): Tone {
  if (status >= 500) return "danger";
  return status >= 400 ? "warning" : "positive";
}

function KeyCell({ name }: { name: string }) {
  return (
    <div className="w-28 xl:w-44">
      <MiddleCut text={name} />
    </div>
  );
}

function columns(keys: readonly PortalKey[], open: (requestId: string) => void): readonly Column<RequestLogEntry>[] {
  return [
    {
      head: "Status",
      cell: (entry) => (
        <>
          <Badge tone={toneOf(entry.status)}>{entry.status}</Badge>
          {isBurstRefusal(entry) ? (
            <span className="mt-1 block whitespace-nowrap text-ink-faint text-xs leading-5">Burst limit</span>
          ) : null}
        </>
      ),
    },
    { head: "Code", from: "md", cell: ({ code }) => <span className="font-mono text-[13px]">{code === 0 ? "–" : code}</span> },
    {
      head: "Request",
      grow: true,
      cell: ({ at, method, path, request_id }) => (
        <>
          <button
            type="button"
            onClick={() => open(request_id)}
            className="line-clamp-2 min-w-56 break-all md:line-clamp-1 text-left font-mono text-[13px] text-accent leading-6 hover:underline"
            title={`${method} ${path}`}
          >
            {method} {path.startsWith(MARKET) ? path.slice(MARKET.length) : path}
          </button>
          <span className="text-ink-faint text-xs sm:hidden">
            <Instant at={at} to="second" />
          </span>
        </>
      ),
    },
    { head: "Time", from: "sm", cell: ({ at }) => <Instant at={at} to="second" /> },
    { head: "Key", from: "md", cell: ({ key_id }) => <KeyCell name={keyName(keys, key_id)} /> },
    { head: "Latency", from: "md", numeric: true, cell: ({ latency_ms }) => msText(latency_ms) },
  ];
}

function NoRequests({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <p>No requests match these filters.</p>
  ) : (
    <>
      <p className="font-medium text-ink">No requests yet</p>
      <p className="mt-1">Call the API with one of your keys. Requests appear here within a few seconds.</p>
    </>
  );
}

/** The latest requests of the user's keys for these operations; the filters and the opened one are kept in the URL. */
export function LogsView({ operations }: { operations: readonly string[] }) {
  const router = useRouter();
  const path = usePathname();
  const asked = useSearchParams();
  const [live, setLive] = useState(false);
  const get = (name: string) => asked.get(name) ?? "";
  const filter: LogFilter = { key_id: get("key_id"), status: get("status"), operation: get("operation"), q: get("q") };
  const query = queryOf({ ...filter });
  const shown = get("request");
  const refreshMs = live ? TAIL_MS : 0;
  const log = usePages<RequestLogEntry>("logs", query, { refreshMs });
  const keys = usePortal<{ items: readonly PortalKey[] }>("keys").data?.items ?? [];
  const go = (next: LogFilter, request = "") => router.replace(`${path}${queryOf({ ...next, request })}`, { scroll: false });
  return (
    <>
      <PageHead
        title="Logs"
        action={
          <div className="flex flex-wrap gap-2">
            <Button aria-pressed={live} onClick={() => setLive(!live)}>
              <span aria-hidden="true" className={`size-2 rounded-full ${live ? "bg-positive" : "bg-edge"}`} />
              Auto-refresh
            </Button>
            <Button onClick={log.reload}>Refresh</Button>
            <a
              href={`/api/portal/logs/export${query}`}
              download
              title={`The newest ${countText(LOG_EXPORT_MAX_ROWS)} requests that match the filters`}
              className={buttonClass("secondary")}
            >
              Export CSV
            </a>
          </div>
        }
      >
        The latest requests made with your keys. Open one to see why it failed.
      </PageHead>
      <LogFilters filter={filter} onChange={(next) => go(next)} keys={keys} operations={operations} />
      <LogHistogram query={query} refreshMs={refreshMs} />
      {/* As high as its placeholder, so that nothing below moves when there are no requests. */}
      <div className="min-h-96">
        <Table
          caption="Latest requests"
          columns={columns(keys, (request) => go(filter, request))}
          rows={log.items}
          rowKey={({ id }) => id}
          failure={log.failure}
          retry={log.reload}
          expected={8}
          empty={<NoRequests filtered={query !== ""} />}
        />
      </div>
      <Older busy={log.busy} more={log.more}>
        Older requests
      </Older>
      {shown === "" ? null : <LogDetailDialog requestId={shown} keys={keys} onClose={() => go(filter)} />}
    </>
  );
}
