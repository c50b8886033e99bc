import type { Clock } from "#lib/clock";
import type { CoverageSource } from "#lib/contract/coverage";
import type { DataHead, DataYear } from "#lib/contract/portal-data";
import { GAP_REASONS, SOURCE_NAMES, suspiciousPlaces } from "#lib/data-words";
import { readSources } from "#server/store/data/coverage-sources";
import { createStoredData } from "#server/store/data/stored-data";
import type { Database } from "#server/store/database/db";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, venueOf, wordsOf } from "./run-command";
import { EXIT_DONE, EXIT_FAILED, EXIT_UNSURE, UsageError } from "./usage-error";
import { countText, minuteText } from "./words";

/** Gaps that are printed, longest first. */
const GAPS_PRINTED_COUNT = 10;

const USAGE = `npm run data -- check TICKER [--venue live]

Prints what is stored of an instrument, as /admin/data shows it: coverage by year, the longest gaps, suspicious places, doubtful
imports and sources. Only the live venue stores klines.

Exit code: 0 nothing is suspicious; 3 something is; 1 nothing is stored, or the check failed; 2 wrong usage. Gaps are printed and
do not count as suspicious: a minute without a quote has no kline.`;

type Print = CommandContext["print"];

const instantText = (iso: string) => minuteText(Date.parse(iso));
const rangeText = (from: string, to: string) => (from === to ? instantText(from) : `${instantText(from)} to ${instantText(to)}`);

function printCoverage(years: readonly DataYear[], print: Print): void {
  print("\nCoverage");
  for (const { year, rows, minutes, gap_count } of years) {
    const gaps =
      minutes === null ? "" : `  ${countText(minutes.gap)} open minutes without a kline, in ${countText(gap_count)} gaps`;
    print(`  ${year}  ${countText(rows).padStart(9)} klines${gaps}`);
  }
  const gaps = years.flatMap((year) => year.gaps).sort((a, b) => b.open_minutes - a.open_minutes);
  if (gaps.length === 0) return;
  print("\nLongest gaps");
  for (const { from, to, open_minutes, reason } of gaps.slice(0, GAPS_PRINTED_COUNT))
    print(`  ${rangeText(from, to)}  ${countText(open_minutes)} open minutes  ${GAP_REASONS[reason]}`);
}

/** @returns whether there are any */
function printDoubts({ imports }: DataHead, print: Print): boolean {
  const doubtful = imports.filter(({ doubts, undone_at }) => doubts.length > 0 && undone_at === null);
  if (doubtful.length > 0) print("\nDoubtful imports");
  for (const { number, file, doubts } of doubtful) for (const doubt of doubts) print(`  ${number} ${file}: ${doubt}`);
  return doubtful.length > 0;
}

function printSources(sources: readonly CoverageSource[], print: Print): void {
  print("\nSources");
  for (const { kind, provider, rows, first_month, last_month } of sources) {
    const name = `${SOURCE_NAMES[kind]}${provider === null ? "" : ` (${provider})`}`;
    print(`  ${name}  ${countText(rows)} klines  ${first_month} to ${last_month}`);
  }
}

/** Prints the check of an instrument. @returns the exit code @throws Fault not_found for one that is not on the live venue */
async function check(db: Database, clock: Clock, ticker: string, print: Print): Promise<number> {
  const data = createStoredData({ db, clock });
  const head = await data.ticker(ticker);
  if (head.first_at === null || head.last_at === null) {
    print(`No M1 kline of ${ticker} is stored. Import history with: npm run import -- --ticker ${ticker} FILE`);
    return EXIT_FAILED;
  }
  const years: DataYear[] = [];
  for (let before: string | undefined, more = true; more; ) {
    const page = await data.years(ticker, { before });
    years.push(...page.items);
    before = page.next_before ?? undefined;
    more = before !== undefined;
  }
  const calendar = head.calendar === null ? "No calendar says when it is open" : `Calendar ${head.calendar}`;
  print(`${ticker}, M1 klines from ${rangeText(head.first_at, head.last_at)}. ${calendar}.`);
  printCoverage(years, print);
  let suspicious = 0;
  for (const year of years.filter(({ rows }) => rows > 0)) {
    const suspects = await data.suspects(ticker, { year: String(year.year) });
    for (const { kind, at, to, values, why } of suspiciousPlaces(suspects, year, head.digits)) {
      if (suspicious === 0) print("\nSuspicious places");
      suspicious += 1;
      print(`  ${kind}  ${rangeText(at, to)}  ${values}  ${why}`);
    }
  }
  const doubtful = printDoubts(head, print);
  printSources(await readSources(db.pool, ticker), print);
  if (suspicious > 0 || doubtful) return EXIT_UNSURE;
  print("\nNothing is suspicious.");
  return EXIT_DONE;
}

/** `npm run data`. */
export const dataCommand = defineCommand({
  name: "data",
  usage: USAGE,
  options: { venue: { type: "string", default: "live" } },
  async run({ values, positionals }, { clock, print, withDatabase }) {
    const { words } = subcommandOf(positionals, ["check"]);
    const [ticker] = wordsOf(words, "TICKER");
    if (venueOf(values.venue) !== "live")
      throw new UsageError("--venue sandbox: a formula computes its klines, and none are stored. Check the live venue.");
    return withDatabase((db) => check(db, clock, ticker.toUpperCase(), print));
  },
});

await runAsProcess(import.meta.url, dataCommand);
