import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { z } from "zod";
import { systemClock } from "#lib/clock";
import { AssetClass } from "#lib/contract/instrument";
import { OPEN_GRACE_DEFAULT_S, STALE_AFTER_DEFAULT_S } from "#lib/contract/limits";
import { STREAMS, TIMEFRAMES, Ticker, Timeframe, Venue } from "#lib/contract/primitives";
import { type Naming, validate } from "#lib/contract/validate";
import type { Database } from "#lib/db";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { borrowDatabase } from "#server/database/database";

const USAGE = `npm run instruments -- <command>

  list    [--venue live] [--all]        instruments of a venue; --all with the retired ones
  add     TICKER --asset-class forex|metals --digits 5 [--venue live] [--base EUR] [--quote USD]
          [--pip-size 0.0001] [--calendar forex|none] [--stale-after 60] [--open-grace 300] [--timeframes M1,H1]
  retire  TICKER… [--venue live]        no longer offered; its history stays
  restore TICKER… [--venue live]        offered again

A running service follows at once. --venue is live unless given.`;

const OPTIONS = {
  venue: { type: "string", default: "live" },
  all: { type: "boolean", default: false },
  "asset-class": { type: "string" },
  base: { type: "string" },
  quote: { type: "string" },
  digits: { type: "string" },
  "pip-size": { type: "string" },
  calendar: { type: "string" },
  "stale-after": { type: "string", default: String(STALE_AFTER_DEFAULT_S) },
  "open-grace": { type: "string", default: String(OPEN_GRACE_DEFAULT_S) },
  timeframes: { type: "string", default: TIMEFRAMES.join(",") },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** What an operator typed wrongly; shown without a stack. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

const Currency = z.string().regex(/^[A-Z0-9]{2,10}$/, "must be 2 to 10 capital letters and digits.");
/** The largest number of seconds the database's integer holds. */
const Seconds = z.coerce.number().int().min(1).max(2_147_483_647);

const Addition = z.object({
  ticker: Ticker,
  assetClass: AssetClass.exclude(["test"]),
  base: Currency,
  quote: Currency,
  digits: z.coerce.number().int().min(0).max(10),
  pipSize: z.coerce.number().positive(),
  staleAfterS: Seconds,
  openGraceS: Seconds,
  timeframes: z.array(Timeframe).min(1),
});

/** What the fields are called on the command line, where it is not `--` and the same name. */
const ARGUMENT_NAMES: Readonly<Record<string, string>> = {
  ticker: "TICKER",
  assetClass: "--asset-class",
  pipSize: "--pip-size",
  staleAfterS: "--stale-after",
  openGraceS: "--open-grace",
};

type Values = ReturnType<typeof readArguments>["values"];
type Print = (line: string) => void;

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A value checked by its schema, or the operator's mistake in words. */
function check<Output>(schema: z.ZodType<Output>, value: unknown, naming: Naming): Output {
  const validated = validate(schema, value, naming);
  if ("data" in validated) return validated.data;
  throw new UsageError(validated.refusals.map(({ detail }) => detail).join("\n"));
}

async function list({ prisma }: Database, venue: Venue, all: boolean, print: Print): Promise<void> {
  const rows = await prisma.listing.findMany({
    where: all ? { venue } : { venue, retiredAt: null },
    orderBy: [{ assetClass: "asc" }, { ticker: "asc" }],
  });
  for (const { ticker, assetClass, digits, calendarName, retiredAt } of rows) {
    const retired = retiredAt === null ? "" : `  retired ${retiredAt.toISOString()}`;
    print(
      `${ticker.padEnd(20)} ${assetClass.padEnd(8)} digits ${String(digits).padEnd(3)} calendar ${calendarName ?? "none"}${retired}`,
    );
  }
}

async function add({ prisma }: Database, venue: Venue, [ticker = "", ...more]: string[], values: Values): Promise<void> {
  if (venue !== "live") throw new UsageError("The sandbox computes its prices: instruments are added to live.");
  if (more.length > 0) throw new UsageError("add takes one ticker.");
  const addition = check(
    Addition,
    {
      ticker,
      assetClass: values["asset-class"],
      base: values.base ?? ticker.slice(0, 3),
      quote: values.quote ?? ticker.slice(3),
      digits: values.digits,
      // The last digit is a tenth of a pip, as brokers quote it.
      pipSize: values["pip-size"] ?? `1e-${Number(values.digits) - 1}`,
      staleAfterS: values["stale-after"],
      openGraceS: values["open-grace"],
      timeframes: values.timeframes.split(","),
    },
    { place: ([field = "", ...inner]) => [ARGUMENT_NAMES[String(field)] ?? `--${String(field)}`, ...inner] },
  );
  const calendar = values.calendar ?? addition.assetClass;
  const calendarName = calendar === "none" ? null : calendar;
  if (calendarName !== null && (await prisma.calendar.count({ where: { name: calendarName } })) === 0) {
    const known = (await prisma.calendar.findMany({ orderBy: { name: "asc" } })).map(({ name }) => name).join(", ");
    throw new UsageError(`There is no calendar ${calendarName}. There are: ${known}; or none.`);
  }
  const { count } = await prisma.listing.createMany({
    data: [{ venue, ...addition, calendarName, streams: [...STREAMS] }],
    skipDuplicates: true,
  });
  if (count === 0) throw new UsageError(`${ticker} is listed on ${venue} already; restore it if it is retired.`);
}

async function setRetired({ prisma }: Database, venue: Venue, tickers: string[], retiredAt: Date | null): Promise<void> {
  if (tickers.length === 0) throw new UsageError("Name at least one ticker.");
  const rows = await prisma.listing.findMany({ where: { venue, ticker: { in: tickers } }, select: { ticker: true } });
  const known = new Set(rows.map(({ ticker }) => ticker));
  const unknown = tickers.filter((ticker) => !known.has(ticker));
  if (unknown.length > 0) throw new UsageError(`Not listed on ${venue}: ${unknown.join(", ")}.`);
  await prisma.listing.updateMany({ where: { venue, ticker: { in: tickers } }, data: { retiredAt } });
}

/**
 * Does what an operator asks of the catalogue, then tells running services.
 * @throws UsageError with words for the operator; nothing was changed then.
 */
export async function runInstruments(args: readonly string[], db: Database, now: Date, print: Print): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [command, ...rest] = positionals;
  const venue = check(Venue, values.venue, { place: () => ["--venue"] });
  const tickers = rest.map((ticker) => ticker.toUpperCase());
  if (values.help || command === undefined) return print(USAGE);
  if (command === "list") return list(db, venue, values.all, print);
  if (command === "add") await add(db, venue, tickers, values);
  else if (command === "retire") await setRetired(db, venue, tickers, now);
  else if (command === "restore") await setRetired(db, venue, tickers, null);
  else throw new UsageError(`Unknown command ${command}.\n\n${USAGE}`);
  await db.control.publish({ kind: "listings", venue });
  print(`${command}: ${tickers.join(", ")} on ${venue}`);
}

async function main(): Promise<void> {
  const { db, release } = await borrowDatabase(readEnv(), createLog("error"), systemClock);
  try {
    await runInstruments(process.argv.slice(2), db, new Date(), (line) => void process.stdout.write(`${line}\n`));
  } finally {
    await release();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
