import Link from "next/link";
import { coveragePath, type MonthCoverage, type TickerCoverage } from "#lib/contract/coverage";
import { countText } from "../portal/numbers";
import { coveredShare, coveredText } from "./share";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The colors of months, by the share that they have at least. */
const LEVELS = [
  { least: 0.999, className: "bg-positive/45", label: "99.9% and more" },
  { least: 0.98, className: "bg-positive/25", label: "98%" },
  { least: 0.9, className: "bg-warning/30", label: "90%" },
  { least: 0, className: "bg-danger/35", label: "less" },
] as const;
const UNKNOWN = "bg-edge/40";

const levelOf = (share: number | null) => LEVELS.find(({ least }) => share !== null && share >= least)?.className ?? UNKNOWN;

function Month({ month }: { month: MonthCoverage | undefined }) {
  if (month === undefined) return <td className="p-px" />;
  const share = coveredShare(month);
  const text = coveredText(share).replace("%", "");
  return (
    <td className="p-px">
      <span
        title={`${month.month}: ${countText(month.rows)} klines, ${share === null ? "hours unknown" : coveredText(share)}`}
        className={`flex h-7 items-center justify-center rounded-sm font-mono text-xs tabular-nums ${levelOf(share)}`}
      >
        <span className="max-md:sr-only">{text}</span>
      </span>
    </td>
  );
}

/** The months of a history, a row for each year, which leads to its gaps. Months before the first and after the last kline are blank. */
export function MonthHeat({ venue, row, months, chosen }: TickerCoverage & { readonly chosen: number | undefined }) {
  const byMonth = new Map(months.map((month) => [month.month, month]));
  return (
    <>
      <div className="rounded-lg border border-line bg-surface p-2 sm:p-4">
        <table className="w-full table-fixed text-sm">
          <caption className="sr-only">Share of open minutes with a kline, in percent, by month</caption>
          <thead>
            <tr className="text-ink-faint text-xs">
              <th scope="col" className="w-14 py-1 text-left font-medium">
                Year
              </th>
              {MONTHS.map((name) => (
                <th key={name} scope="col" className="py-1 font-medium">
                  <span className="max-sm:hidden">{name}</span>
                  <abbr title={name} className="no-underline sm:hidden">
                    {name.slice(0, 1)}
                  </abbr>
                </th>
              ))}
              <th scope="col" className="w-20 py-1 text-right font-medium max-sm:hidden">
                Complete
              </th>
            </tr>
          </thead>
          <tbody>
            {row.years.toReversed().map((covered) => (
              <tr key={covered.year}>
                <th scope="row" className="py-0.5 text-left font-normal">
                  <Link
                    prefetch={false}
                    href={yearPath(coveragePath(venue, row.ticker), covered.year)}
                    aria-current={covered.year === chosen ? "true" : undefined}
                    className="inline-flex min-h-7 items-center font-mono text-accent tabular-nums hover:underline aria-[current]:font-semibold aria-[current]:text-ink"
                  >
                    {covered.year}
                  </Link>
                </th>
                {MONTHS.map((name, index) => (
                  <Month key={name} month={byMonth.get(`${covered.year}-${String(index + 1).padStart(2, "0")}`)} />
                ))}
                <td className="text-right font-mono text-[13px] tabular-nums max-sm:hidden">
                  {coveredText(coveredShare(covered))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-ink-faint text-xs">
        {LEVELS.map(({ label, className }) => (
          <li key={label} className="flex items-center gap-1.5 leading-5">
            <span aria-hidden="true" className={`size-2.5 rounded-sm ${className}`} />
            {label}
          </li>
        ))}
        <li className="flex items-center gap-1.5 leading-5">
          <span aria-hidden="true" className={`size-2.5 rounded-sm ${UNKNOWN}`} />
          closed, or hours unknown
        </li>
      </ul>
    </>
  );
}

/** The page of an instrument with the gaps of a year. */
const yearPath = (path: string, year: number) => `${path}${path.includes("?") ? "&" : "?"}year=${year}#gaps`;
