import { OPEN_GRACE_DEFAULT_S, STALE_AFTER_DEFAULT_S } from "#lib/contract/limits";
import { TIMEFRAMES, type Venue } from "#lib/contract/primitives";
import { validate } from "#lib/contract/validate";
import { audit, COMMAND_LINE } from "#server/store/access/audit";
import type { Database } from "#server/store/database/db";
import { addListing, ListingForm, setRetired } from "#server/store/market/catalogue-admin";
import { listNodes } from "#server/store/market/node-reports";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, venueOf, wordsOf } from "./run-command";
import { EXIT_DONE, UsageError } from "./usage-error";

const USAGE = `npm run instruments -- <command>

  list    [--venue live] [--all]        lists the instruments of a venue; --all includes retired ones
  add     TICKER --asset-class forex|metals --digits 5 [--venue live] [--base EUR] [--quote USD]
          [--pip-size 0.0001] [--calendar forex|none] [--stale-after ${STALE_AFTER_DEFAULT_S}] [--open-grace ${OPEN_GRACE_DEFAULT_S}] [--timeframes M1,H1]
  retire  TICKER… [--venue live]        stops listing instruments; their history stays
  retire  --not-offered [--venue live]  retires all that the running service says its feed does not offer
  restore TICKER… [--venue live]        offers retired instruments again

--venue defaults to live. A running service applies changes at once, and the audit log records them.`;

const OPTIONS = {
  venue: { type: "string", default: "live" },
  all: { type: "boolean", default: false },
  "not-offered": { type: "boolean", default: false },
  "asset-class": { type: "string" },
  base: { type: "string" },
  quote: { type: "string" },
  digits: { type: "string" },
  "pip-size": { type: "string" },
  calendar: { type: "string" },
  "stale-after": { type: "string", default: String(STALE_AFTER_DEFAULT_S) },
  "open-grace": { type: "string", default: String(OPEN_GRACE_DEFAULT_S) },
  timeframes: { type: "string", default: TIMEFRAMES.join(",") },
} as const;

interface Values {
  readonly venue: string;
  readonly all: boolean;
  readonly "not-offered": boolean;
  readonly "asset-class"?: string;
  readonly base?: string;
  readonly quote?: string;
  readonly digits?: string;
  readonly "pip-size"?: string;
  readonly calendar?: string;
  readonly "stale-after": string;
  readonly "open-grace": string;
  readonly timeframes: string;
}
type Print = CommandContext["print"];
type Work = (db: Database, context: CommandContext) => Promise<void>;

/** Options of the fields whose option has a different name. */
const OPTION_OF: Readonly<Record<string, string>> = {
  ticker: "TICKER",
  assetClass: "--asset-class",
  pipSize: "--pip-size",
  staleAfterS: "--stale-after",
  openGraceS: "--open-grace",
};

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

/** @throws UsageError that names the option */
function formOf(ticker: string, values: Values): ListingForm {
  const calendar = values.calendar ?? values["asset-class"];
  const value = {
    ticker,
    assetClass: values["asset-class"],
    base: values.base ?? ticker.slice(0, 3),
    quote: values.quote ?? ticker.slice(3),
    digits: values.digits,
    // The last digit is a tenth of a pip, as brokers quote it.
    pipSize: values["pip-size"] ?? `1e-${Number(values.digits) - 1}`,
    calendar: calendar === "none" ? null : calendar,
    staleAfterS: values["stale-after"],
    openGraceS: values["open-grace"],
    timeframes: values.timeframes.split(","),
  };
  const place = ([field = "", ...inner]: readonly PropertyKey[]) => [OPTION_OF[String(field)] ?? `--${String(field)}`, ...inner];
  const validated = validate(ListingForm, value, { place });
  if ("data" in validated) return validated.data;
  throw new UsageError(validated.refusals.map(({ detail }) => detail).join(" "));
}

/** What all running nodes say that the feed does not offer, and the venue lists. @throws UsageError while no node says anything */
async function unofferedOf({ pool, prisma }: Database, venue: Venue): Promise<string[]> {
  const told = (await listNodes(pool)).flatMap(({ silent, not_offered }) => (silent || !not_offered ? [] : [not_offered[venue]]));
  const [first, ...others] = told;
  if (first === undefined)
    throw new UsageError("--not-offered: no node has reported. Start the service with its provider, and try again.");
  const listed = await prisma.listing.findMany({ where: { venue, retiredAt: null, ticker: { in: first } } });
  return listed.map(({ ticker }) => ticker).filter((ticker) => others.every((one) => one.includes(ticker)));
}

/** Parses the arguments into the work on the database. @throws UsageError */
function workOf(positionals: readonly string[], values: Values): Work {
  const { name, words } = subcommandOf(positionals, ["list", "add", "retire", "restore"]);
  const venue = venueOf(values.venue);
  if (name === "list") {
    wordsOf(words);
    return (db, { print }) => list(db, venue, values.all, print);
  }
  const tickers = words.map((ticker) => ticker.toUpperCase());
  const contextOf = (db: Database, { clock }: CommandContext): Parameters<typeof addListing>[0] => ({
    db,
    clock,
    record: (transaction, change) => audit(transaction, { ...COMMAND_LINE, accountId: null, ...change }),
  });
  let change: Work;
  if (name === "add") {
    const [ticker] = wordsOf(tickers, "TICKER");
    if (venue !== "live") throw new UsageError("--venue sandbox: instruments can be added to live only.");
    const form = formOf(ticker, values);
    change = (db, context) => addListing(contextOf(db, context), venue, form);
  } else if (values["not-offered"]) {
    if (name !== "retire" || tickers.length > 0) throw new UsageError("--not-offered: use it alone, with retire.");
    return async (db, context) => {
      const unoffered = await unofferedOf(db, venue);
      await setRetired(contextOf(db, context), venue, unoffered, true);
      context.print(
        unoffered.length === 0 ? `Every instrument of ${venue} is offered.` : `retire: ${unoffered.join(", ")} on ${venue}`,
      );
    };
  } else {
    if (tickers.length === 0) throw new UsageError("Missing argument: TICKER.");
    change = (db, context) => setRetired(contextOf(db, context), venue, tickers, name === "retire");
  }
  return async (db, context) => {
    await change(db, context);
    context.print(`${name}: ${tickers.join(", ")} on ${venue}`);
  };
}

/** `npm run instruments`. */
export const instrumentsCommand = defineCommand({
  name: "instruments",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, context) {
    const work = workOf(positionals, values);
    await context.withDatabase((db) => work(db, context));
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, instrumentsCommand);
