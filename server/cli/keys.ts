import { z } from "zod";
import { putAccount } from "#lib/access/accounts";
import { mintKey } from "#lib/access/key-format";
import type { KeyRecord } from "#lib/access/key-record";
import { createKey, editKey, type KeyContext, listKeys, revokeKey, rotateKey } from "#lib/access/keys";
import { ROTATION_GRACES, type RotationGrace } from "#lib/contract/limits";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, wordsOf } from "./run-command";
import { EXIT_DONE, UsageError } from "./usage-error";

const GRACES = Object.keys(ROTATION_GRACES);

const USAGE = `npm run keys -- <command>

  create  --name NAME [--account operator] [--plan free] [--venue live|sandbox]
          [--scopes market:read,market:stream] [--origins https://app.example.com] [--expires 2027-01-01T00:00:00Z|never]
          [--addresses 203.0.113.7,2001:db8::/32]
  edit    ID [--name NAME] [--scopes …] [--origins …] [--addresses …] [--expires …]    changes a key that works
  list    [--account NAME]              lists keys and their state, without the keys themselves
  rotate  ID [--grace ${GRACES.join("|")}]    creates a key with the same settings; the old key works until the grace period ends
  revoke  ID                            stops a key from working anywhere within a second
  demo                                  prints a key that can replace the public demo key (DEMO_KEY)

create also creates the account if it does not exist. A key expires after a year unless --expires says otherwise.
It is printed once and never stored. Scopes: market:read for REST, market:stream for streams, market:ingest for pushing ticks.
A running service applies changes at once.`;

const OPTIONS = {
  account: { type: "string" },
  plan: { type: "string" },
  name: { type: "string" },
  venue: { type: "string" },
  scopes: { type: "string" },
  origins: { type: "string" },
  addresses: { type: "string" },
  expires: { type: "string" },
  grace: { type: "string", default: "24h" },
} as const;

/** Account that keys belong to if --account is not set. */
const DEFAULT_ACCOUNT = "operator";
const DEFAULT_VENUE = "live";
const DEFAULT_SCOPES = "market:read,market:stream";

interface Values {
  readonly account?: string;
  readonly plan?: string;
  readonly name?: string;
  readonly venue?: string;
  readonly scopes?: string;
  readonly origins?: string;
  readonly addresses?: string;
  readonly expires?: string;
  readonly grace: string;
}
type Print = CommandContext["print"];
type Work = (context: KeyContext, print: Print) => Promise<void>;

const listOf = (text: string) =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);

/** Undefined when it is not chosen, null for never. @throws UsageError */
function expiryOf(text: string | undefined): Date | null | undefined {
  if (text === undefined) return undefined;
  if (text === "never") return null;
  if (!z.iso.datetime({ offset: true }).safeParse(text).success)
    throw new UsageError(`--expires ${text}: must be "never", or a date and time in ISO 8601, for example 2027-01-01T00:00:00Z.`);
  return new Date(text);
}

function graceOf(text: string): RotationGrace {
  if (Object.hasOwn(ROTATION_GRACES, text)) return text as RotationGrace;
  throw new UsageError(`--grace ${text}: must be one of ${GRACES.join(", ")}.`);
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
  addresses,
  expiresAt,
  graceUntil,
  lastUsedAt,
}: KeyRecord): string {
  const when = (label: string, date: Date | null) => (date === null ? "" : `  ${label} ${date.toISOString()}`);
  const list = (label: string, entries: readonly string[]) => (entries.length === 0 ? "" : `  ${label} ${entries.join(",")}`);
  const where = list("origins", origins) + list("addresses", addresses);
  const until = when("expires", expiresAt) + when("grace until", graceUntil) + when("last used", lastUsedAt);
  return `${id}  ${state.padEnd(7)}  ${prefix}…${last4}  ${venue}  ${account}  ${name}  ${scopes.join(",")}${where}${until}`;
}

/** @throws UsageError */
function createWork(values: Values): Work {
  const { name, venue = DEFAULT_VENUE, plan } = values;
  if (name === undefined) throw new UsageError("Missing option: --name.");
  const scopes = listOf(values.scopes ?? DEFAULT_SCOPES);
  if (venue === "sandbox" && scopes.includes("market:ingest"))
    throw new UsageError("--scopes market:ingest: works on the live venue only; the sandbox generates its own prices.");
  const expiresAt = expiryOf(values.expires);
  return async (context, print) => {
    const account = await putAccount(context, values.account ?? DEFAULT_ACCOUNT, { ...(plan !== undefined && { plan }) });
    const from = { origins: listOf(values.origins ?? ""), addresses: listOf(values.addresses ?? "") };
    const settings = { accountId: account.id, name, venue, scopes, ...from, expiresAt };
    const { text, record } = await createKey(context, settings);
    print(text);
    print(line(record));
  };
}

/** @throws UsageError */
function editWork(id: string, { account, plan, venue, name, scopes, origins, addresses, expires }: Values): Work {
  for (const [option, value] of Object.entries({ account, plan, venue }))
    if (value !== undefined) throw new UsageError(`--${option}: cannot be changed; create another key.`);
  const change = {
    name,
    scopes: scopes === undefined ? undefined : listOf(scopes),
    origins: origins === undefined ? undefined : listOf(origins),
    addresses: addresses === undefined ? undefined : listOf(addresses),
    expiresAt: expiryOf(expires),
  };
  if (Object.values(change).every((value) => value === undefined)) throw new UsageError("Nothing to change: name an option.");
  return async (context, print) => print(line(await editKey(context, id, change)));
}

function rotateWork(id: string, grace: RotationGrace): Work {
  return async (context, print) => {
    const { text, record, replaced } = await rotateKey(context, id, grace);
    print(text);
    print(line(record));
    print(line(replaced));
  };
}

/** Parses the arguments into the work on the database. @throws UsageError */
function workOf(name: "create" | "edit" | "list" | "rotate" | "revoke", words: readonly string[], values: Values): Work {
  if (name === "edit" || name === "rotate" || name === "revoke") {
    const [id] = wordsOf(words, "ID");
    if (name === "edit") return editWork(id, values);
    if (name === "rotate") return rotateWork(id, graceOf(values.grace));
    return async (context, print) => print(line(await revokeKey(context, id)));
  }
  wordsOf(words);
  if (name === "create") return createWork(values);
  return async (context, print) => {
    for (const record of await listKeys(context, { account: values.account })) print(line(record));
  };
}

/** `npm run keys`. */
export const keysCommand = defineCommand({
  name: "keys",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, { clock, print, withDatabase }) {
    const { name, words } = subcommandOf(positionals, ["create", "edit", "list", "rotate", "revoke", "demo"]);
    if (name === "demo") {
      wordsOf(words);
      print(mintKey("sandbox"));
      return EXIT_DONE;
    }
    const work = workOf(name, words, values);
    await withDatabase((db) => work({ db, clock }, print));
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, keysCommand);
