"use client";

import { Fragment } from "react";
import type { MarketDetail } from "#lib/contract/markets";
import { SECOND_MS } from "#lib/units";
import { timeText } from "../portal/date-format";
import { Instant, useTimeZone, ZoneName } from "../portal/time";
import { daysOf, type MarketDay } from "./fortnight";

const percent = (part: number) => `${(100 * part).toFixed(2)}%`;
const iso = (seconds: number) => new Date(seconds * SECOND_MS).toISOString();
/** Reasons that come every week. */
const USUAL = ["Weekend", "Daily break"];

/** The open times of a day, as in "00:00–21:00, 22:00–24:00". */
function OpenTimes({ day: { open, to: endOfDay } }: { day: MarketDay }) {
  if (open.length === 0) return "Closed";
  return open.map(({ from, to }, index) => (
    <Fragment key={from}>
      {index === 0 ? "" : ", "}
      <Instant at={iso(from)} to="time" />–{to === endOfDay ? "24:00" : <Instant at={iso(to)} to="time" />}
    </Fragment>
  ));
}

function Day({ day, today }: { day: MarketDay; today: boolean }) {
  const zone = useTimeZone();
  const part = (at: number) => percent((at - day.from) / (day.to - day.from));
  const unusual = day.reasons.filter((reason) => !USUAL.includes(reason));
  return (
    <tr className={`border-line border-t ${today ? "bg-sunken/60" : ""}`}>
      <th
        scope="row"
        className="w-32 whitespace-nowrap px-4 py-2 text-left align-top max-sm:w-auto max-sm:pr-0 font-normal tabular-nums"
      >
        {timeText(day.from * SECOND_MS, "weekday", zone)} {timeText(day.from * SECOND_MS, "dayOfYear", zone)}
        {today ? <span className="sr-only"> (today)</span> : null}
      </th>
      <td className="w-full py-2 max-sm:hidden">
        <div aria-hidden="true" className="relative h-2.5 overflow-hidden rounded-full bg-positive/70">
          {day.closed.map(({ from, to }) => (
            <span
              key={from}
              className="absolute inset-y-0 bg-line"
              style={{ left: part(from), right: `calc(100% - ${part(to)})` }}
            />
          ))}
        </div>
      </td>
      <td className="px-4 py-2 font-mono text-xs tabular-nums leading-5 sm:whitespace-nowrap">
        <OpenTimes day={day} />
      </td>
      <td className="min-w-32 px-4 py-2 text-ink-faint text-xs max-md:hidden">
        <span className={unusual.length > 0 ? "text-warning" : ""}>{day.reasons.join(", ")}</span>
      </td>
    </tr>
  );
}

/** When the market is open in the coming fortnight, day by day in the zone that the page shows, with holidays and early closes. */
export function MarketHours({ closures, nowMs }: { closures: MarketDetail["closures"]; nowMs: number }) {
  const zone = useTimeZone();
  if (closures === null)
    return <p className="text-ink-soft text-sm leading-6">The calendar of this market has no days that could be listed.</p>;
  if (closures.length === 0) return <p className="text-ink-soft text-sm leading-6">Open at all hours, every day.</p>;
  const days = daysOf(closures, nowMs, zone);
  if (days.every(({ open }) => open.length === 0))
    return <p className="text-ink-soft text-sm leading-6">Closed on all of the coming {days.length} days.</p>;
  return (
    <div className="overflow-x-auto rounded-xl border border-line bg-surface">
      <table className="w-full text-sm">
        <caption className="sr-only">
          Open hours of the coming fortnight, times in <ZoneName />
        </caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">Day</th>
            <th scope="col" className="max-sm:hidden">
              Hours
            </th>
            <th scope="col">Open</th>
            <th scope="col" className="max-md:hidden">
              Why closed
            </th>
          </tr>
        </thead>
        <tbody className="[&>tr:first-child]:border-t-0">
          {days.map((day, index) => (
            <Day key={day.from} day={day} today={index === 0} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
