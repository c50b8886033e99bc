import type { MarketDetail } from "#lib/contract/markets";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { dateFormat } from "../portal/date-format";
import { daysOf, type MarketDay, openText, openTimes } from "./fortnight";

const DAY = { timeZone: "UTC", weekday: "short", day: "2-digit", month: "short" } as const;
const percent = (part: number) => `${(100 * part).toFixed(2)}%`;
/** Reasons that come every week. */
const USUAL = ["Weekend", "Daily break"];

function Day({ day, today }: { day: MarketDay; today: boolean }) {
  const unusual = day.reasons.filter((reason) => !USUAL.includes(reason));
  return (
    <tr className={`border-line border-t ${today ? "bg-sunken/60" : ""}`}>
      <th
        scope="row"
        className="w-32 whitespace-nowrap px-4 py-2 text-left align-top max-sm:w-auto max-sm:pr-0 font-normal tabular-nums"
      >
        {dateFormat(DAY).format(new Date(day.time * SECOND_MS))}
        {today ? <span className="sr-only"> (today)</span> : null}
      </th>
      <td className="w-full py-2 max-sm:hidden">
        <div aria-hidden="true" className="relative h-2.5 overflow-hidden rounded-full bg-positive/70">
          {day.closed.map(({ from, to }) => (
            <span key={from} className="absolute inset-y-0 bg-line" style={{ left: percent(from), width: percent(to - from) }} />
          ))}
        </div>
      </td>
      <td className="px-4 py-2 font-mono text-xs tabular-nums leading-5 sm:whitespace-nowrap">{openText(day)}</td>
      <td className="min-w-32 px-4 py-2 text-ink-faint text-xs max-md:hidden">
        <span className={unusual.length > 0 ? "text-warning" : ""}>{day.reasons.join(", ")}</span>
      </td>
    </tr>
  );
}

/** When the market is open in the coming fortnight, day by day in UTC, with holidays and early closes. */
export function MarketHours({ closures, nowMs }: { closures: MarketDetail["closures"]; nowMs: number }) {
  if (closures === null)
    return <p className="text-ink-soft text-sm leading-6">The calendar of this market has no days that could be listed.</p>;
  if (closures.length === 0) return <p className="text-ink-soft text-sm leading-6">Open at all hours, every day.</p>;
  const today = Math.floor(nowMs / DAY_MS) * (DAY_MS / SECOND_MS);
  const days = daysOf(closures, today);
  if (days.every((day) => openTimes(day).length === 0))
    return <p className="text-ink-soft text-sm leading-6">Closed on all of the coming {days.length} days.</p>;
  return (
    <div className="overflow-x-auto rounded-xl border border-line bg-surface">
      <table className="w-full text-sm">
        <caption className="sr-only">Open hours of the coming fortnight, in UTC</caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">Day</th>
            <th scope="col" className="max-sm:hidden">
              Hours
            </th>
            <th scope="col">Open, UTC</th>
            <th scope="col" className="max-md:hidden">
              Why closed
            </th>
          </tr>
        </thead>
        <tbody className="[&>tr:first-child]:border-t-0">
          {days.map((day) => (
            <Day key={day.time} day={day} today={day.time === today} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
