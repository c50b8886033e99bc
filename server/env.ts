import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { brandOf, demoKeyOf } from "#lib/brand";
import { LOGO_MAX_BYTES, LOGO_SIZE_RULE, type LogoType, readLogo } from "#lib/brand-logo";
import { validate } from "#lib/contract/validate";
import { type Env, EnvSchema, PROXY_SETTINGS } from "#lib/env";
import { partsOf } from "#lib/env-addresses";
import { SECRET_SETTINGS } from "#lib/env-feeds";
import { FOLDER_RULE } from "#lib/env-history";

/** The files that a DATABASE_URL can name. */
const TLS_FILES = ["sslrootcert", "sslcert", "sslkey"];
/** Where a build of Next leaves its settings, as it made them of next.config.ts. */
const BUILT_SETTINGS = ".next/required-server-files.json";

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

const isReadable = (path: string) => isAccessible(path, constants.R_OK);

/** A directory that this process can write to. */
function isWritable(path: string): boolean {
  return isAccessible(path, constants.R_OK | constants.W_OK | constants.X_OK) && statSync(path).isDirectory();
}

/** A logo as a page shows it. @returns why it cannot be shown, as the end of a sentence about its setting */
export function readLogoFile(file: string): { readonly bytes: Buffer; readonly type: LogoType } | string {
  if (!isReadable(file) || !statSync(file).isFile()) return "must be a file that this process can read.";
  if (statSync(file).size > LOGO_MAX_BYTES) return LOGO_SIZE_RULE;
  const bytes = readFileSync(file);
  const read = readLogo(bytes);
  return typeof read === "string" ? read : { bytes, ...read };
}

/** The settings, where this process can use the files and directories that they name. */
const Settings = EnvSchema.superRefine(
  (
    {
      DATABASE_URL = "",
      DATABASE_DIRECT_URL = "",
      REDIS_CA_FILE,
      SMTP_CA_FILE,
      HISTORY_URL,
      BACKUP_TO,
      BRAND_LOGO,
      BRAND_LOGO_DARK,
    },
    context,
  ) => {
    const wrong = (name: keyof Env, message: string) => context.addIssue({ code: "custom", path: [name], message });
    // This is also asked of settings that are refused already.
    for (const [name, address] of Object.entries({ DATABASE_URL, DATABASE_DIRECT_URL })) {
      const tlsFiles = TLS_FILES.flatMap((file) => partsOf(address)?.searchParams.getAll(file) ?? []);
      if (!tlsFiles.every(isReadable))
        wrong(name as keyof Env, `must name files that this process can read in ${TLS_FILES.join(", ")}.`);
    }
    for (const [name, file] of Object.entries({ REDIS_CA_FILE, SMTP_CA_FILE }))
      if (file !== undefined && !isReadable(file)) wrong(name as keyof Env, "must be a file that this process can read.");
    for (const [name, place] of Object.entries({ HISTORY_URL, BACKUP_TO }))
      if (place?.kind === "directory" && !isWritable(place.folder)) wrong(name as keyof Env, FOLDER_RULE);
    for (const [name, file] of Object.entries({ BRAND_LOGO, BRAND_LOGO_DARK })) {
      const logo = file === undefined ? {} : readLogoFile(file);
      if (typeof logo === "string") wrong(name as keyof Env, logo);
    }
  },
);

/** An invalid configuration; its message names every invalid variable and what is allowed. */
export class EnvError extends Error {
  override readonly name = "EnvError";
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Quotation marks around a value: `docker run --env-file` and others keep those of the file, as part of the value. */
const QUOTED = /^(["']).*\1$/s;

/** @throws EnvError naming each setting whose value is in quotation marks: most would fail at something else, and a secret at nothing */
function refuseQuotes(given: Variables): void {
  const secrets: ReadonlySet<string> = new Set(SECRET_SETTINGS);
  const names = [...Object.keys(EnvSchema.shape), ...SECRET_SETTINGS.map((name) => `${name}_FILE`)];
  const lines = names
    .filter((name) => QUOTED.test(given[name] ?? ""))
    .map((name) => {
      const file = secrets.has(name) ? ` If they do belong to it, put it into a file that ${name}_FILE names.` : "";
      return `  \`${name}\` is in quotation marks, which are part of the value here: leave them out, as docker run --env-file keeps them.${file}`;
    });
  if (lines.length > 0) throw new EnvError(`Wrong configuration:\n${lines.join("\n")}`);
}

/** The environment, plus the variables of a `.env` file in the working directory; variables that are set take precedence. */
function environment(): Variables {
  if (existsSync(".env")) process.loadEnvFile(".env");
  return process.env;
}

/** The longest secret in a file. */
const SECRET_MAX_BYTES = 4_096;

/** The secret in the file that NAME_FILE names, without the line break at its end. @throws EnvError */
function secretIn(file: string, name: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new EnvError(`Wrong configuration:\n  ${name}_FILE cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  if (text !== "" && text.length <= SECRET_MAX_BYTES) return text;
  throw new EnvError(`Wrong configuration:\n  ${name}_FILE must name a file of 1 to ${SECRET_MAX_BYTES} characters.`);
}

/** The secrets of files. @throws EnvError when one cannot be read, or is given twice */
function secretsOf(given: Variables): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const name of SECRET_SETTINGS) {
    const file = given[`${name}_FILE`];
    if (file === undefined) continue;
    if (given[name] !== undefined) throw new EnvError(`Wrong configuration:\n  Set ${name} or ${name}_FILE, not both.`);
    secrets[name] = secretIn(file, name);
  }
  return secrets;
}

/**
 * Reads the configuration once; empty variables count as unset.
 * @throws EnvError naming each invalid variable and what it may be; a value is never printed.
 */
export function readEnv(source: Variables = environment()): Env {
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ""));
  const proxies = PROXY_SETTINGS.map((name) => [name, set[name.toLowerCase()] ?? set[name]]);
  const written = { ...set, ...Object.fromEntries(proxies) };
  refuseQuotes(written);
  const given = { ...written, ...secretsOf(set) };
  const validated = validate(Settings, given);
  if ("data" in validated) {
    const { data } = validated;
    const named = { DEMO_KEY: demoKeyOf(brandOf(data)), MAIL_FROM: `${data.BRAND_NAME} <noreply@localhost>` };
    for (const name of ["DEMO_KEY", "MAIL_FROM"] as const) if (set[name] === undefined) data[name] = named[name];
    return Object.freeze(data);
  }
  const lines = validated.refusals.map(({ path: [name], detail }) => {
    const description = EnvSchema.shape[name as keyof Env]?.description ?? "";
    return `  ${detail} ${description}`;
  });
  throw new EnvError(`Wrong configuration:\n${lines.join("\n")}`);
}

/**
 * Makes next-auth take its own URL from the request, which server/pages/sign-in/auth fills in: next-auth reads these two variables itself
 * and has no option for it.
 */
export function letNextAuthReadItsOrigin(): void {
  delete process.env.NEXTAUTH_URL;
  process.env.AUTH_TRUST_HOST = "true";
}

/** Keeps Fumadocs, in this process and those that it starts, from listing the pages of the docs again, which prints a line. */
export function keepListOfPages(): void {
  process.env._FUMADOCS_MDX = "1";
}

/**
 * Lets Next take the settings that its build has left, as in the server of a standalone build. To read next.config.ts, it would load
 * its compiler, which then stays in memory.
 */
export function letNextReadBuiltSettings(): void {
  const { config } = JSON.parse(readFileSync(BUILT_SETTINGS, "utf8")) as { config: unknown };
  process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config);
}

/** Memory that this process may use, bytes: that of the machine, or less where a container or a service has a limit. */
export function memoryBytes(constrained = process.constrainedMemory(), total = totalmem()): number {
  // 0 or far more than the machine has: no limit.
  return constrained > 0 ? Math.min(constrained, total) : total;
}
