import { z } from "zod";
import { mintKey } from "#lib/access/key-format";
import type { KeyRecord } from "#lib/access/key-record";
import { brandOf } from "#lib/brand";
import {
  eachLimit,
  PLAN_DEFAULTS,
  PLAN_LIMIT_NAMES,
  PLAN_LIMITS,
  type PlanLimitField,
  ROTATION_GRACES,
  type RotationGrace,
} from "#lib/contract/limits";
import { type KeyChangeWord, keyMail } from "#lib/mail/security-messages";
import { putAccount } from "#server/store/access/accounts";
import { COMMAND_LINE } from "#server/store/access/audit";
import { createKey, editKey, findKeyRecord, type KeyContext, listKeys, revokeKey, rotateKey } from "#server/store/access/keys";
import { ownerAddresses } from "#server/store/users/notices";
import { notify } from "./notify";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, wordsOf } from "./run-command";
import { EXIT_DONE, UsageError } from "./usage-error";

const GRACES = Object.keys(ROTATION_GRACES);

type Dashed<Text extends string> = Text extends `${infer Word}_${infer Rest}` ? `${Word}-${Dashed<Rest>}` : Text;
type LimitOption = Dashed<PlanLimitField>;
const optionOf = (field: PlanLimitField) => field.replaceAll("_", "-") as LimitOption;
const LIMIT_OPTIONS = PLAN_LIMIT_NAMES.map((name) => [name, optionOf(PLAN_LIMITS[name].field)] as const);

const USAGE = `npm run keys -- <command>

  create  --name NAME [--account operator] [--plan free] [--venue live|sandbox]
          [--scopes market:read,market:stream] [--origins https://app.example.com] [--expires 2027-01-01T00:00:00Z|never]
          [--addresses 203.0.113.7,2001:db8::/32] [--tickers EURUSD,XAUUSD] [--not-before 2026-12-01T00:00:00Z]
          ${LIMIT_OPTIONS.map(([name, option]) => `[--${option} ${PLAN_DEFAULTS.demo[name]}]`).join(" ")}
  edit    ID [--name NAME] [--scopes …] [--origins …] …    changes a key that works; \`none\` removes a limit or --not-before
  list    [--account NAME]              lists keys and their state, without the keys themselves
  rotate  ID [--grace ${GRACES.join("|")}]    creates a key with the same settings; the old key works until the grace period ends
  revoke  ID                            stops a key from working anywhere within a second
  demo                                  prints a key that can replace the public demo key (DEMO_KEY)

create also creates the account if it does not exist, with live access. An account that exists needs it for a live key: npm run admin -- grant-live ACCOUNT. A key expires after a year unless --expires says otherwise.
It is printed once and never stored. Without --tickers it can be used for all that its account may read, and without limits of
its own up to the limits of its account. Scopes: market:read for REST, market:stream for streams, market:ingest for pushing ticks,
billing:read, alone, for the usage of all accounts.
A running service applies changes at once. The owner of a key, if it has one, gets an email when it is created, rotated or revoked.`;

const OPTIONS = {
  account: { type: "string" },
  plan: { type: "string" },
  name: { type: "string" },
  venue: { type: "string" },
  scopes: { type: "string" },
  origins: { type: "string" },
  addresses: { type: "string" },
  tickers: { type: "string" },
  ...(Object.fromEntries(LIMIT_OPTIONS.map(([, option]) => [option, { type: "string" }])) as Record<
    LimitOption,
    { readonly type: "string" }
  >),
  "not-before": { type: "string" },
  expires: { type: "string" },
  grace: { type: "string", default: "24h" },
} as const;

/** Account that keys belong to if --account is not set. */
const DEFAULT_ACCOUNT = "operator";
const DEFAULT_VENUE = "live";
const DEFAULT_SCOPES = ["market:read", "market:stream"];

type Values = { readonly [Name in Exclude<keyof typeof OPTIONS, "grace">]?: string } & { readonly grace: string };
type Work = (context: KeyContext, command: CommandContext) => Promise<void>;

/** Emails the owners of a key's account what was done to it. */
async function notifyOwner(context: KeyContext, command: CommandContext, key: KeyRecord, made: KeyChangeWord): Promise<void> {
  for (const address of await ownerAddresses(context, key.account))
    await notify(command, address, (to, occasion) => keyMail(to, key.name, made, occasion));
}

const listOf = (text: string) =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);

const NONE = "none";
const NEVER = "never";

/** Undefined when it is not chosen, null for the word that stands for no time. @throws UsageError */
function timeOf(values: Values, option: "expires" | "not-before", absent: string): Date | null | undefined {
  const text = values[option];
  if (text === undefined) return undefined;
  if (text === absent) return null;
  if (!z.iso.datetime({ offset: true }).safeParse(text).success)
    throw new UsageError(
      `--${option} ${text}: must be "${absent}", or a date and time in ISO 8601, for example 2027-01-01T00:00:00Z.`,
    );
  return new Date(text);
}

/** Undefined when it is not chosen, null for none. @throws UsageError */
function limitOf(values: Values, option: LimitOption) {
  const text = values[option];
  if (text === undefined) return undefined;
  if (text === NONE) return null;
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError(`--${option} ${text}: must be "${NONE}", or a whole number from 1.`);
  return Number(text);
}

/** What is chosen of a key; what is absent is undefined. @throws UsageError */
function chosen(values: Values) {
  const { scopes, origins, addresses, tickers } = values;
  return {
    name: values.name,
    scopes: scopes === undefined ? undefined : listOf(scopes),
    origins: origins === undefined ? undefined : listOf(origins),
    addresses: addresses === undefined ? undefined : listOf(addresses),
    tickers: tickers === undefined ? undefined : listOf(tickers),
    ...eachLimit((_, field) => limitOf(values, optionOf(field))),
    notBefore: timeOf(values, "not-before", NONE),
    expiresAt: timeOf(values, "expires", NEVER),
  };
}

function graceOf(text: string): RotationGrace {
  if (Object.hasOwn(ROTATION_GRACES, text)) return text as RotationGrace;
  throw new UsageError(`--grace ${text}: must be one of ${GRACES.join(", ")}.`);
}

function line(key: KeyRecord): string {
  const when = (label: string, date: Date | null) => (date === null ? "" : `  ${label} ${date.toISOString()}`);
  const list = (label: string, entries: readonly string[]) => (entries.length === 0 ? "" : `  ${label} ${entries.join(",")}`);
  const limit = (label: string, value: number | null) => (value === null ? "" : `  ${label} ${value}`);
  const { id, state, prefix, last4, venue, account, name, scopes } = key;
  return [
    `${id}  ${state.padEnd(9)}  ${prefix}…${last4}  ${venue}  ${account}  ${name}  ${scopes.join(",")}`,
    list("origins", key.origins) + list("addresses", key.addresses) + list("tickers", key.tickers),
    ...LIMIT_OPTIONS.map(([name, option]) => limit(option, key[name])),
    when("not before", key.notBefore) + when("expires", key.expiresAt),
    when("grace until", key.graceUntil) + when("last used", key.lastUsedAt),
  ].join("");
}

/** @throws UsageError */
function createWork(values: Values): Work {
  const { name, venue = DEFAULT_VENUE, plan } = values;
  if (name === undefined) throw new UsageError("Missing option: --name.");
  const { scopes = DEFAULT_SCOPES, origins = [], ...rest } = chosen(values);
  if (venue === "sandbox" && scopes.includes("market:ingest"))
    throw new UsageError("--scopes market:ingest: works on the live venue only; the sandbox generates its own prices.");
  return async (context, command) => {
    const account = await putAccount(context, values.account ?? DEFAULT_ACCOUNT, { ...(plan !== undefined && { plan }) });
    const settings = { ...rest, accountId: account.id, name, venue, scopes, origins };
    const { text, record } = await createKey(context, settings);
    command.print(text);
    command.print(line(record));
    await notifyOwner(context, command, record, "created");
  };
}

/** @throws UsageError */
function editWork(id: string, values: Values): Work {
  for (const option of ["account", "plan", "venue"] as const)
    if (values[option] !== undefined) throw new UsageError(`--${option}: cannot be changed; create another key.`);
  const change = chosen(values);
  if (Object.values(change).every((value) => value === undefined)) throw new UsageError("Nothing to change: name an option.");
  return async (context, { print }) => print(line(await editKey(context, id, change)));
}

function rotateWork(id: string, grace: RotationGrace): Work {
  return async (context, command) => {
    const { print } = command;
    const { text, record, replaced } = await rotateKey(context, id, grace);
    print(text);
    print(line(record));
    print(line(replaced));
    await notifyOwner(context, command, replaced, "rotated");
  };
}

/** Parses the arguments into the work on the database. @throws UsageError */
function workOf(name: "create" | "edit" | "list" | "rotate" | "revoke", words: readonly string[], values: Values): Work {
  if (name === "edit" || name === "rotate" || name === "revoke") {
    const [id] = wordsOf(words, "ID");
    if (name === "edit") return editWork(id, values);
    if (name === "rotate") return rotateWork(id, graceOf(values.grace));
    return async (context, command) => {
      const { state } = await findKeyRecord(context, id, COMMAND_LINE);
      const key = await revokeKey(context, id);
      command.print(line(key));
      if (state !== "revoked") await notifyOwner(context, command, key, "revoked");
    };
  }
  wordsOf(words);
  if (name === "create") return createWork(values);
  return async (context, { print }) => {
    for (const record of await listKeys(context, { account: values.account })) print(line(record));
  };
}

/** `npm run keys`. */
export const keysCommand = defineCommand({
  name: "keys",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, command) {
    const { name, words } = subcommandOf(positionals, ["create", "edit", "list", "rotate", "revoke", "demo"]);
    if (name === "demo") {
      wordsOf(words);
      command.print(mintKey("sandbox", command.readEnv().KEY_PREFIX));
      return EXIT_DONE;
    }
    const work = workOf(name, words, values);
    await command.withDatabase((db) => work({ db, clock: command.clock, brand: brandOf(command.readEnv()) }, command));
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, keysCommand);
