"use client";

import Link from "next/link";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import type { PortalKey, UsagePoint, UsageReport } from "#lib/contract/portal";
import { keyName } from "../keys/key-text";
import { countText, errorsText, shareText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { ZoneName } from "../portal/time";
import { buttonClass } from "../ui/button";
import { Figure, Figures, PageHead } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Select } from "../ui/select";
import { Tabs } from "../ui/tabs";
import { Tooltip } from "../ui/tooltip";
import type { Series } from "./chart";
import { ChartCard } from "./chart-card";
import { MonthView } from "./month-view";
import { addressOf, filterOf, SPANS, type Span, totals, type UsageFilter, usageQuery } from "./usage-query";
import { UsageTables } from "./usage-tables";

const CALLS: readonly Series[] = [
  { field: "calls", label: "Requests", shape: "bar", tone: "accent" },
  { field: "errors", label: "Errors", shape: "bar", tone: "danger", part: true },
];
const UNITS: readonly Series[] = [{ field: "units", label: "Units", shape: "bar", tone: "accent" }];
const LATENCY: readonly Series[] = [
  { field: "p50_ms", label: "p50: half of all requests are faster", shape: "line", tone: "accent" },
  { field: "p95_ms", label: "p95: 95% of all requests are faster", shape: "line", tone: "warning" },
];
const STREAMS: readonly Series[] = [
  { field: "messages", label: "Messages", shape: "bar", tone: "accent" },
  { field: "merged", label: "Merged", shape: "bar", tone: "warning" },
];
const SPAN_OPTIONS = (Object.keys(SPANS) as Span[]).map((value) => ({ value, label: SPANS[value].label }));
const UNIT = "Most requests cost one unit. Large ones cost more, and stream messages none.";
const MERGED = "Records replaced by a newer one before they were sent, because the client read too slowly.";

interface FiltersProps {
  readonly filter: UsageFilter;
  readonly onChange: (filter: UsageFilter) => void;
  readonly keys: readonly PortalKey[];
  readonly operations: readonly string[];
}

function Filters({ filter, onChange, keys, operations }: FiltersProps) {
  const keyOptions = keys.map(({ id }) => ({ value: id, label: keyName(keys, id) }));
  const operationOptions = operations.map((operation) => ({ value: operation, label: operation }));
  return (
    <div className="mb-6 grid grid-cols-2 gap-2 sm:grid-cols-3">
      <Select
        aria-label="Time range"
        options={SPAN_OPTIONS}
        value={filter.span}
        onChange={(span) => onChange({ ...filter, span })}
        className="max-sm:col-span-2"
      />
      <Select
        aria-label="Key"
        options={[{ value: "", label: "All keys" }, ...keyOptions]}
        value={filter.keyId}
        onChange={(keyId) => onChange({ ...filter, keyId })}
      />
      <Select
        aria-label="Operation"
        options={[{ value: "", label: "All operations" }, ...operationOptions]}
        value={filter.operation}
        onChange={(operation) => onChange({ ...filter, operation })}
      />
    </div>
  );
}

function Totals({ points }: { points: readonly UsagePoint[] | undefined }) {
  const sum = points === undefined ? undefined : totals(points);
  const count = (value: number | undefined) => (value === undefined ? "–" : countText(value));
  return (
    <div className="mb-6">
      <Figures>
        <Figure
          label="Requests"
          value={count(sum?.calls)}
          note={sum?.calls ? `${errorsText(sum.errors)}, ${shareText(sum.errors, sum.calls)} of all` : "no errors"}
        />
        <Figure label="Units" value={count(sum?.units)} note={<Tooltip text={UNIT}>what limits count</Tooltip>} />
        <Figure label="Stream connections" value={count(sum?.connections)} note={`${count(sum?.subscriptions)} subscriptions`} />
        <Figure
          label="Stream messages"
          value={count(sum?.messages)}
          note={
            <>
              {count(sum?.merged)} <Tooltip text={MERGED}>merged</Tooltip>
            </>
          }
        />
      </Figures>
    </div>
  );
}

/**
 * The usage of the user's keys over a time range: charts, totals, tables that lead to their parts, and a CSV export. The
 * filters are kept in the URL.
 * @param openedMs when the page was rendered, by the server's clock, so that server and browser render the same
 */
export function UsageView({ openedMs }: { openedMs: number }) {
  const router = useRouter();
  const path = usePathname();
  const filter = filterOf(useSearchParams());
  // Fixed when the filter changes: a query that moves with the clock would never stop reloading.
  const [nowMs, setNowMs] = useState(openedMs);
  const query = usageQuery(filter, nowMs);
  const report = usePortal<UsageReport>(`usage${query}`);
  const keys = usePortal<{ items: readonly PortalKey[] }>("keys").data?.items ?? [];
  const operations = report.data?.by.operations.map(({ operation }) => operation) ?? [];
  const known = filter.operation === "" || operations.includes(filter.operation) ? operations : [filter.operation, ...operations];
  const chart = { points: report.data?.items, grain: SPANS[filter.span].grain };
  const choose = (next: UsageFilter) => {
    setNowMs(Date.now());
    router.replace(path + addressOf(next), { scroll: false });
  };
  return (
    <>
      <PageHead
        title="Usage"
        action={
          <a href={`/api/portal/usage/export${query}`} download className={buttonClass("secondary")}>
            Export CSV
          </a>
        }
      >
        {SPANS[filter.span].grain === "day" ? "Days" : "Times"} in {SPANS[filter.span].grain === "day" ? "UTC" : <ZoneName />}.
        Requests appear within a few seconds.
      </PageHead>
      <Filters filter={filter} onChange={choose} keys={keys} operations={known} />
      <Totals points={report.data?.items} />
      {report.error === undefined ? (
        <Tabs
          label="Charts"
          tabs={[
            {
              value: "calls",
              label: "Requests",
              content: <ChartCard {...chart} summary="Requests and errors over time" series={CALLS} unit="count" />,
            },
            {
              value: "units",
              label: "Units",
              content: (
                <>
                  <p className="mb-4 text-ink-soft text-sm leading-6">
                    {UNIT}{" "}
                    <Link href="/docs/limits#how-requests-are-counted" className="text-accent underline">
                      How requests are counted
                    </Link>
                  </p>
                  <ChartCard {...chart} summary="Units over time" series={UNITS} unit="count" />
                </>
              ),
            },
            {
              value: "latency",
              label: "Latency",
              content: <ChartCard {...chart} summary="Latency over time" series={LATENCY} unit="ms" />,
            },
            {
              value: "streams",
              label: "Streams",
              content: <ChartCard {...chart} summary="Stream messages over time" series={STREAMS} unit="count" />,
            },
            { value: "month", label: "Month", content: <MonthView /> },
          ]}
        />
      ) : (
        <FailureNotice failure={report.error} retry={() => void report.mutate()} />
      )}
      {report.error === undefined ? (
        <div className="mt-10">
          <UsageTables report={report} keys={keys} filter={filter} onFilter={choose} />
        </div>
      ) : null}
    </>
  );
}
