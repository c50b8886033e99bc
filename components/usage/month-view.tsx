"use client";

import { useState } from "react";
import type { MonthDay, MonthReport } from "#lib/contract/portal-billing";
import { monthAfter, monthOf } from "#lib/domain/month";
import { DAY_MS } from "#lib/units";
import { queryOf } from "../portal/api";
import { timeText } from "../portal/date-format";
import { countText, shareText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { FailureNotice } from "../ui/failure";
import { Select } from "../ui/select";
import { type Column, Table } from "../ui/table";
import type { ChartPoint, Series } from "./chart";
import { ChartCard } from "./chart-card";

/** As long as the usage of days is kept. */
const MONTHS_MAX_COUNT = 24;
const SERIES: readonly Series[] = [{ field: "total", label: "Units of the month so far", shape: "line", tone: "accent" }];

const monthName = (month: string) => timeText(`${month}-01`, "longMonth", "UTC");

/** The current month and those before it since the first, the newest first. */
function monthsOf({ first_month, current_month }: Pick<MonthReport, "first_month" | "current_month">): string[] {
  const months: string[] = [];
  let month = current_month;
  do {
    months.push(month);
    month = monthAfter(month, -1);
  } while (months.length < MONTHS_MAX_COUNT && month >= first_month);
  return months;
}

/** All days of the month: those that have not begun have no value, so that the line shows how much time is left. */
function pointsOf({ month, items }: MonthReport): ChartPoint[] {
  const points: ChartPoint[] = [...items];
  let nextMs = Date.parse(`${month}-01`) + items.length * DAY_MS;
  for (; monthOf(nextMs) === month; nextMs += DAY_MS) points.push({ at: new Date(nextMs).toISOString() });
  return points;
}

function columns(quota: number | null): readonly Column<MonthDay>[] {
  return [
    { head: "Day (UTC)", grow: true, cell: ({ at }) => timeText(at, "dayOfYear", "UTC") },
    { head: "Units", numeric: true, cell: ({ units }) => countText(units) },
    { head: "Month so far", numeric: true, cell: ({ total }) => countText(total) },
    ...(quota === null ? [] : [{ head: "Of the quota", numeric: true, cell: ({ total }: MonthDay) => shareText(total, quota) }]),
  ];
}

/** The units of a month, all keys together, beside the monthly quota where the plan has one. */
export function MonthView() {
  const [chosen, setChosen] = useState("");
  const { data, error, mutate } = usePortal<MonthReport>(`usage/month${queryOf({ month: chosen })}`, { keepPreviousData: true });
  const months = data === undefined ? [] : monthsOf(data);
  const quota = data?.quota ?? null;
  const isPast = data !== undefined && data.month !== data.current_month;
  const used = data?.items.at(-1)?.total ?? 0;
  if (error !== undefined) return <FailureNotice failure={error} retry={() => void mutate()} />;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3 text-ink-soft text-sm leading-6">
        <p>
          {data === undefined
            ? "All keys and operations together."
            : `${countText(used)} units in ${monthName(data.month)}, all keys and operations together. ${quota === null ? "Your plan has no monthly quota." : `Your plan has ${countText(quota)} a month; requests beyond are ${data.hard ? "refused" : "only counted"}.`}`}
        </p>
        <Select
          aria-label="Month"
          className="w-auto!"
          disabled={data === undefined}
          options={months.map((value) => ({ value, label: monthName(value) }))}
          value={data?.month ?? ""}
          onChange={setChosen}
        />
      </div>
      <ChartCard
        summary="Units of the month, added up day by day, and the monthly quota"
        points={data && pointsOf(data)}
        grain="day"
        series={SERIES}
        unit="count"
        bound={quota === null ? undefined : { label: isPast ? "Quota of your plan today" : "Monthly quota", value: quota }}
      />
      <details className="mt-4">
        <summary className="mb-3 cursor-pointer text-ink-soft text-sm hover:text-ink">Show as a table</summary>
        <Table
          caption="Units of the month by day"
          columns={columns(quota)}
          rows={data && [...data.items].reverse()}
          rowKey={({ at }) => at}
          empty="This month has not begun."
        />
      </details>
    </>
  );
}
