import Link from "next/link";
import { coveragePath, type MonthCoverage, type TickerCoverage } from "#lib/contract/coverage";
import { SANDBOX_FILES_MONTHS_COUNT } from "#lib/contract/limits";
import type { Credential } from "../portal/credential";
import { countText } from "../portal/numbers";
import { filesCall, hasFile } from "./files-call";
import { coveredShare, coveredText } from "./share";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

/** The colors of months, by the share that they have at least. */
const LEVELS = [
  { least: 0.999, className: "bg-positive/45", label: "99.9% and more" },
  { least: 0.98, className: "bg-positive/25", label: "98%" },
  { least: 0.9, className: "bg-warning/30", label: "90%" },
  { least: 0, className: "bg-danger/35", label: "less" },
] as const;
const UNKNOWN = "bg-edge/40";

const levelOf = (share: number | null) => LEVELS.find(({ least }) => share !== null && share >= least)?.className ?? UNKNOWN;

interface MonthProps {
  readonly month: MonthCoverage | undefined;
  /** The name of the month, as "March 2024". */
  readonly name: string;
  /** The call that lists its file; undefined without one, or without a key to call with. */
  readonly href: string | undefined;
}

const CELL = "flex h-7 items-center justify-center rounded-sm font-mono text-xs tabular-nums max-md:h-9";

function MonthCell({ month, name, href }: MonthProps) {
  if (month === undefined) return <td className="p-px" />;
  const share = coveredShare(month);
  const has = share === null ? "hours unknown" : coveredText(share);
  const cell = { className: `${CELL} ${levelOf(share)}`, title: `${month.month}: ${countText(month.rows)} klines, ${has}` };
  const text = coveredText(share).replace("%", "");
  return (
    <td className="p-px">
      {href === undefined ? (
        <span {...cell}>{text}</span>
      ) : (
        <Link
          {...cell}
          prefetch={false}
          href={href}
          aria-label={`${name}: ${has}, list its file`}
          className={`${cell.className} underline decoration-ink-faint/60 underline-offset-2 hover:ring-1 hover:ring-ink-faint`}
        >
          {text}
        </Link>
      )}
    </td>
  );
}

interface MonthHeatProps extends TickerCoverage {
  /** The year whose gaps are shown. */
  readonly chosen: number | undefined;
  /** What calls are made with; undefined where the reader has no key of the venue. */
  readonly credential: Credential | undefined;
  readonly nowMs: number;
}

/** On a phone a year is two lines of six months, so that a finger finds one. */
const LINE = "max-md:grid max-md:grid-cols-[2.75rem_repeat(6,minmax(0,1fr))]";
const YEAR = "max-md:row-span-2";

/** The months of a history, each leading to its file, a row for each year, which leads to its gaps. Months before the first and after the last kline are blank. */
export function MonthHeat({ venue, row, months, chosen, credential, nowMs }: MonthHeatProps) {
  const byMonth = new Map(months.map((month) => [month.month, month]));
  const callFor = ({ month, rows }: MonthCoverage) =>
    credential !== undefined && rows > 0 && hasFile(venue, month, nowMs)
      ? filesCall(row.ticker, "klines", credential, month)
      : undefined;
  const cellOf = (year: number, name: string, index: number) => {
    const month = byMonth.get(`${year}-${String(index + 1).padStart(2, "0")}`);
    return <MonthCell key={name} month={month} name={`${name} ${year}`} href={month && callFor(month)} />;
  };
  return (
    <>
      <div className="rounded-lg border border-line bg-surface p-2 sm:p-4">
        <table className="w-full table-fixed text-sm max-md:block">
          <caption className="sr-only">Share of open minutes with a kline, in percent, by month</caption>
          <thead className="max-md:block">
            <tr className={`text-ink-faint text-xs ${LINE}`}>
              <th scope="col" className={`py-1 text-left font-medium md:w-14 ${YEAR}`}>
                Year
              </th>
              {MONTHS.map((name) => (
                <th key={name} scope="col" className="py-1 font-medium">
                  <abbr title={name} className="no-underline">
                    {name.slice(0, 3)}
                  </abbr>
                </th>
              ))}
              <th scope="col" className="w-20 py-1 text-right font-medium max-md:hidden">
                Complete
              </th>
            </tr>
          </thead>
          <tbody className="max-md:block">
            {row.years.toReversed().map((covered) => (
              <tr key={covered.year} className={`max-md:mb-2 ${LINE}`}>
                <th scope="row" className={`py-0.5 text-left font-normal ${YEAR}`}>
                  <Link
                    prefetch={false}
                    href={yearPath(coveragePath(venue, row.ticker), covered.year)}
                    aria-current={covered.year === chosen ? "true" : undefined}
                    className="inline-flex min-h-7 items-center font-mono max-md:min-h-9 text-accent tabular-nums hover:underline aria-[current]:font-semibold aria-[current]:text-ink"
                  >
                    {covered.year}
                  </Link>
                </th>
                {MONTHS.map((name, index) => cellOf(covered.year, name, index))}
                <td className="text-right font-mono text-[13px] tabular-nums max-md:hidden">
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
      {credential === undefined ? null : (
        <p className="mt-1 text-ink-faint text-xs leading-5">
          {venue === "live"
            ? "Each month leads to its file."
            : `The last ${SANDBOX_FILES_MONTHS_COUNT} complete months lead to their files.`}
        </p>
      )}
    </>
  );
}

/** The page of an instrument with the gaps of a year. */
const yearPath = (path: string, year: number) => `${path}${path.includes("?") ? "&" : "?"}year=${year}#gaps`;
