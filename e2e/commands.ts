import { spawn } from "node:child_process";
import { type Stranger, stranger } from "./client";
import type { Product } from "./server";

/** Whose data a command works on: a product's own, or a database that variables name. */
type Operated = Pick<Product, "dataDir"> & { readonly variables?: Readonly<Record<string, string>> };

/** What the commands of package.json run once everything is generated. */
const COMMANDS = {
  keys: "server/cli/keys.ts",
  admin: "server/cli/admin.ts",
  import: "server/import/index.ts",
  instruments: "server/cli/instruments.ts",
} as const;

/** What a command ended with and said. */
interface CommandResult {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Runs `npm run <name> -- <args>` in a process of its own, on the data of a product. */
export function runCommand(
  { dataDir, variables }: Operated,
  name: keyof typeof COMMANDS,
  args: readonly string[],
): Promise<CommandResult> {
  const child = spawn(process.execPath, ["--import", "tsx", COMMANDS[name], ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_ENV: "production", DATA_DIR: dataDir, ...variables },
  });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, output }));
  });
}

/** A key as the command printed it. */
export interface MadeKey {
  readonly id: string;
  readonly text: string;
}

interface KeySettings {
  readonly venue: "live" | "sandbox";
  /** Comma-separated. */
  readonly scopes: string;
  readonly origins?: string;
  /** Its limits are shared by all its keys; e2e unless given. */
  readonly account?: string;
  /** pro unless given. */
  readonly plan?: string;
}

/** Makes a key of the live venue, as makeKey does. */
export function makeLiveKey(product: Operated, scopes: string): Promise<MadeKey> {
  return makeKey(product, { venue: "live", scopes });
}

/**
 * Makes a key on a plan that many calls of a test do not exhaust.
 * @throws Error with the command's output when it made none.
 */
export async function makeKey(
  product: Operated,
  { venue, scopes, origins, account = "e2e", plan = "pro" }: KeySettings,
): Promise<MadeKey> {
  const settings = ["--venue", venue, "--scopes", scopes, "--account", account, "--plan", plan];
  if (origins !== undefined) settings.push("--origins", origins);
  const { exitCode, output } = await runCommand(product, "keys", ["create", "--name", scopes, ...settings]);
  const made = /^(?<text>sw_(?:live|test)_\w+)\n(?<id>\S+) /m.exec(output)?.groups;
  if (exitCode !== 0 || made === undefined) throw new Error(`keys create ended with ${exitCode}:\n${output}`);
  return { id: made.id ?? "", text: made.text ?? "" };
}

/** A client that calls with this key unless told otherwise. */
export function keyHolder({ baseUrl }: Product, { text }: MadeKey): Stranger {
  return stranger(baseUrl, "198.51.100.250", text);
}
