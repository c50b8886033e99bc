import { spawn } from "node:child_process";
import { type Stranger, stranger } from "./client";
import { type CommandResult, KEY_ENDPOINT, type KeyOrder } from "./key-endpoint";
import type { Product } from "./server";

/** Where a command finds its data: the data directory of a product, or a database given by variables. */
type Operated = Pick<Product, "dataDir"> & { readonly variables?: Readonly<Record<string, string>> };

/** The commands of package.json, bundled by the build: a compiler would take longer than most of them. */
type Command = "keys" | "admin" | "import" | "instruments";

/** Runs `npm run <name> -- <args>` as a separate process on the data of a product. */
export function runCommand({ dataDir, variables }: Operated, name: Command, args: readonly string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [`.next/spotwire/${name}.mjs`, ...args], {
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

/** Runs the command `keys`, in a process that all tests of a run share where there is one. */
async function runKeys(product: Operated, args: readonly string[]): Promise<CommandResult> {
  const endpoint = process.env[KEY_ENDPOINT];
  if (endpoint === undefined) return runCommand(product, "keys", args);
  const order: KeyOrder = { args, variables: { NODE_ENV: "production", DATA_DIR: product.dataDir, ...product.variables } };
  const response = await fetch(endpoint, { method: "POST", body: JSON.stringify(order) });
  if (!response.ok) throw new Error(`keys failed: ${await response.text()}`);
  return (await response.json()) as CommandResult;
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
  /** Comma-separated. */
  readonly addresses?: string;
  /** Comma-separated. */
  readonly tickers?: string;
  /** ISO 8601. */
  readonly notBefore?: string;
  /** Its limits are shared by all of its keys; e2e by default. */
  readonly account?: string;
  /** pro by default. */
  readonly plan?: string;
}

/** Creates a key of the live venue, with the options of makeKey. */
export function makeLiveKey(product: Operated, scopes: string, account?: string): Promise<MadeKey> {
  return makeKey(product, { venue: "live", scopes, ...(account !== undefined && { account }) });
}

/**
 * Creates a key on a plan whose limits tests rarely reach.
 * @throws Error with the command's output when it fails.
 */
export async function makeKey(
  product: Operated,
  { venue, scopes, origins, addresses, tickers, notBefore, account = "e2e", plan = "pro" }: KeySettings,
): Promise<MadeKey> {
  const settings = ["--venue", venue, "--scopes", scopes, "--account", account, "--plan", plan];
  if (origins !== undefined) settings.push("--origins", origins);
  if (addresses !== undefined) settings.push("--addresses", addresses);
  if (tickers !== undefined) settings.push("--tickers", tickers);
  if (notBefore !== undefined) settings.push("--not-before", notBefore);
  const { exitCode, output } = await runKeys(product, ["create", "--name", scopes, ...settings]);
  const made = /^(?<text>sw_(?:live|test)_\w+)\n(?<id>\S+) /m.exec(output)?.groups;
  if (exitCode !== 0 || made === undefined) throw new Error(`keys create ended with ${exitCode}:\n${output}`);
  return { id: made.id ?? "", text: made.text ?? "" };
}

/** A client that calls with this key by default. */
export function keyHolder({ baseUrl }: Product, { text }: MadeKey): Stranger {
  return stranger(baseUrl, "198.51.100.250", text);
}
