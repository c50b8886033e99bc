import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { z } from "zod";
import { putAccount } from "#lib/access/accounts";
import { mintKey } from "#lib/access/key-format";
import type { KeyRecord } from "#lib/access/key-record";
import { createKey, type KeyContext, listKeys, revokeKey, rotateKey } from "#lib/access/keys";
import { systemClock } from "#lib/clock";
import { ROTATION_GRACES, type RotationGrace } from "#lib/contract/limits";
import { readEnv } from "#lib/env";
import { isFault } from "#lib/fault";
import { createLog } from "#lib/log";
import { borrowDatabase } from "#server/database/database";

const USAGE = `npm run keys -- <command>

  create  --name NAME [--account operator] [--plan free] [--venue live|sandbox]
          [--scopes market:read,market:stream] [--origins https://app.example.com] [--expires 2027-01-01T00:00:00Z]
  list    [--account NAME]              keys with their state; never their texts
  rotate  ID [--grace now|1h|24h|7d]    a new key with the same settings; the old one stays valid for the grace
  revoke  ID                            refused everywhere within a second
  demo                                  prints a key that can replace the public demo key (DEMO_KEY)

create makes the account when there is none. The text of a key is printed once and kept nowhere. Scopes: market:read for
REST, market:stream for streams, market:ingest for pushing ticks. A running service follows at once.`;

const OPTIONS = {
  account: { type: "string" },
  plan: { type: "string" },
  name: { type: "string" },
  venue: { type: "string", default: "live" },
  scopes: { type: "string", default: "market:read,market:stream" },
  origins: { type: "string", default: "" },
  expires: { type: "string" },
  grace: { type: "string", default: "24h" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Account that keys belong to unless another is named. */
const DEFAULT_ACCOUNT = "operator";
const EXIT_USAGE = 2;
/** Words each command takes after its name. */
const WORDS: Readonly<Record<string, number>> = { create: 0, list: 0, demo: 0, rotate: 1, revoke: 1 };

/** What an operator typed wrongly; shown without a stack. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

type Values = ReturnType<typeof readArguments>["values"];
type Print = (line: string) => void;

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const listOf = (text: string) =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);

function expiryOf(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  if (!z.iso.datetime({ offset: true }).safeParse(text).success)
    throw new UsageError(`--expires ${text}: an ISO 8601 instant is needed, as 2027-01-01T00:00:00Z.`);
  return date;
}

function graceOf(text: string): RotationGrace {
  if (Object.hasOwn(ROTATION_GRACES, text)) return text as RotationGrace;
  throw new UsageError(`--grace ${text}: must be one of ${Object.keys(ROTATION_GRACES).join(", ")}.`);
}

function line({
  id,
  account,
  name,
  venue,
  prefix,
  last4,
  state,
  scopes,
  origins,
  expiresAt,
  graceUntil,
  lastUsedAt,
}: KeyRecord): string {
  const when = (label: string, date: Date | null) => (date === null ? "" : `  ${label} ${date.toISOString()}`);
  const where = origins.length === 0 ? "" : `  origins ${origins.join(",")}`;
  const until = when("expires", expiresAt) + when("grace until", graceUntil) + when("last used", lastUsedAt);
  return `${id}  ${state.padEnd(7)}  ${prefix}…${last4}  ${venue}  ${account}  ${name}  ${scopes.join(",")}${where}${until}`;
}

async function create(context: KeyContext, values: Values, print: Print): Promise<void> {
  const { name, venue, plan } = values;
  if (name === undefined) throw new UsageError("create needs --name.");
  const scopes = listOf(values.scopes);
  if (venue === "sandbox" && scopes.includes("market:ingest"))
    throw new UsageError("The sandbox computes its prices: market:ingest is for live keys.");
  const expiresAt = expiryOf(values.expires);
  const account = await putAccount(context, values.account ?? DEFAULT_ACCOUNT, { ...(plan !== undefined && { plan }) });
  const settings = { accountId: account.id, name, venue, scopes, origins: listOf(values.origins), expiresAt };
  const { text, record } = await createKey(context, settings);
  print(text);
  print(line(record));
}

/**
 * Does what an operator asks of the keys.
 * @throws UsageError or Fault invalid_parameter with words for the operator; nothing was changed then.
 */
export async function runKeys(args: readonly string[], context: KeyContext, print: Print): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [command, id] = positionals;
  if (values.help || command === undefined) return print(USAGE);
  const stray = positionals[(WORDS[command] ?? positionals.length) + 1];
  if (stray !== undefined) throw new UsageError(`"${stray}" is one word too many; an option starts with --.`);
  if (command === "create") return create(context, values, print);
  if (command === "demo") return print(mintKey("sandbox"));
  if (command === "list") {
    for (const record of await listKeys(context, { account: values.account })) print(line(record));
    return;
  }
  if (command !== "rotate" && command !== "revoke") throw new UsageError(`Unknown command ${command}.\n\n${USAGE}`);
  if (id === undefined) throw new UsageError(`${command} needs the id of a key: npm run keys -- list`);
  if (command === "revoke") return print(line(await revokeKey(context, id)));
  const { text, record, replaced } = await rotateKey(context, id, graceOf(values.grace));
  print(text);
  print(line(record));
  print(line(replaced));
}

async function main(): Promise<void> {
  const { db, release } = await borrowDatabase(readEnv(), createLog("error"), systemClock);
  try {
    await runKeys(process.argv.slice(2), { db, clock: systemClock }, (text) => void process.stdout.write(`${text}\n`));
  } catch (error) {
    if (!(error instanceof UsageError) && !isFault(error)) throw error;
    const parameter = isFault(error) && error.data.parameter !== undefined ? `${error.data.parameter}: ` : "";
    process.stderr.write(`${parameter}${error.message}\n`);
    process.exitCode = EXIT_USAGE;
  } finally {
    await release();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
