"use client";

import type { LogInterval } from "#lib/contract/portal-activity";
import { Bars } from "../portal/bars";
import { timeText } from "../portal/date-format";
import { countText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { useTimeZone } from "../portal/time";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";

/** The same before and after it is loaded. */
const HEIGHT = "h-25";

/** How many requests match the filters over the last day. */
export function LogHistogram({ query, refreshMs }: { query: string; refreshMs: number }) {
  const timeZone = useTimeZone();
  const { data, error, mutate } = usePortal<{ items: readonly LogInterval[] }>(`logs/histogram${query}`, {
    keepPreviousData: true,
    refreshInterval: refreshMs,
  });
  if (data === undefined && error !== undefined)
    return (
      <div className="mb-4">
        <FailureNotice failure={error} retry={() => void mutate()} />
      </div>
    );
  if (data === undefined) return <Skeleton className={`mb-4 w-full ${HEIGHT}`} />;
  const sum = (field: "calls" | "errors") => data.items.reduce((total, item) => total + item[field], 0);
  const words = `${countText(sum("calls"))} requests, ${countText(sum("errors"))} errors`;
  return (
    <figure className={`mb-4 flex flex-col justify-between rounded-lg border border-line bg-surface px-4 py-3 ${HEIGHT}`}>
      <Bars
        label={`Requests over the last 24 hours: ${words}`}
        className="h-12 w-full"
        bars={data.items.map(({ at, calls, errors }) => ({
          id: at,
          value: calls,
          errors,
          title: `${timeText(at, "time", timeZone)}: ${countText(calls)} requests, ${countText(errors)} errors`,
        }))}
      />
      <figcaption className="flex justify-between gap-x-4 text-ink-faint text-xs tabular-nums">
        <span>Last 24 hours</span>
        <span>{words}</span>
      </figcaption>
    </figure>
  );
}
