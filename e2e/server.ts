import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { askLazyEndpoint } from "#lib/testing/lazy-endpoint";

/** The variable with the URL that answers with a data directory that the product has set up and left; absent outside a test run. */
export const USED_DATA_ENDPOINT = "E2E_USED_DATA_ENDPOINT";

/** Variables of a product that serves the API and the streams without pages: it starts in half the CPU time. */
export const API_ONLY = { PORTAL: "off" } as const;

/** A first start creates a database; a stop drains for up to ten seconds. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 30_000;
/** The most time that a hook that starts the product needs; the first one also sets up the data directory of the others. */
export const SERVER_TIMEOUT_MS = 2 * START_TIMEOUT_MS + STOP_TIMEOUT_MS;

/** What `npm start` runs once everything is built. */
const COMMAND = [process.execPath, ".next/spotwire/main.mjs"] as const;
/** The line of its log when it is up. */
const LISTENING = /"address":"(http:\/\/[^"]+)"[^\n]*"msg":"listening"/;
const DEMO_KEY = /\bsw_test_[0-9A-Za-z]{36}\b/;
/** How much output of a failed start an error repeats. */
const OUTPUT_TAIL_CHARACTERS = 4_000;

/** The product, running in its own process with its own data. */
export interface Product {
  readonly baseUrl: string;
  /** The public demo key it printed; undefined when it is switched off. */
  readonly demoKey: string | undefined;
  readonly dataDir: string;
  readonly pid: number;
  /** Everything it printed so far. */
  output(): string;
  /** Asks it to stop; resolves to its exit code. Its data stay for a restart. */
  stop(): Promise<number | null>;
  /** Kills it without notice. */
  kill9(): Promise<void>;
  /** Starts it again on the same data, with these variables changed; the port may be another. */
  restart(changes?: Readonly<Record<string, string>>): Promise<Product>;
  /** Stops it and removes its data. */
  dispose(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly output: () => string;
}

/** What runs where: the data directory, and the folder of the program. */
interface Place {
  readonly dataDir: string;
  readonly folder: string;
  /** Files that each of its processes may open; those of this process by default. */
  readonly filesMaxCount?: number | undefined;
}

function launch({ dataDir, folder, filesMaxCount }: Place, variables: Readonly<Record<string, string>>): Running {
  const limited = filesMaxCount === undefined ? [] : ["prlimit", `--nofile=${filesMaxCount}:${filesMaxCount}`];
  const [command = "", ...args] = [...limited, ...COMMAND];
  const child = spawn(command, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NODE_ENV: "production",
      NEXT_TELEMETRY_DISABLED: "1",
      HOST: "127.0.0.1",
      PORT: "0",
      DATA_DIR: dataDir,
      // The tests push prices of their own making on any day of the week.
      TICK_FILTERS_OFF: "market_closed,spike,implausible_price",
      ...variables,
    },
  });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return { child, ended, output: () => output };
}

/** Resolves to the address once the product prints that it listens, and answers. */
async function waitUntilUp({ child, ended, output }: Running): Promise<string> {
  const tail = () => output().slice(-OUTPUT_TAIL_CHARACTERS);
  const address = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`Not up after ${START_TIMEOUT_MS} ms:\n${tail()}`));
    }, START_TIMEOUT_MS);
    child.stdout?.on("data", () => {
      const address = LISTENING.exec(output())?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
    void ended.then((code) => {
      clearTimeout(timer);
      reject(new Error(`The product ended with ${code} before it was up:\n${tail()}`));
    });
  });
  const health = await fetch(`${address}/api/health`);
  if (!health.ok) throw new Error(`/api/health answered ${health.status}`);
  return address;
}

async function stopRunning({ child, ended, output }: Running): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  const code = await ended;
  clearTimeout(timer);
  if (child.signalCode === "SIGKILL")
    throw new Error(`Did not stop in ${STOP_TIMEOUT_MS} ms:\n${output().slice(-OUTPUT_TAIL_CHARACTERS)}`);
  return code;
}

/** The portal's process: the child of the product that runs its pages. @throws Error when none is running */
export async function portalPid({ pid }: Pick<Product, "pid">): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ");
  const commands = await Promise.all(
    children.map(async (child) => [child, await readFile(`/proc/${child}/cmdline`, "utf8")] as const),
  );
  const [portal] = commands.find(([, command]) => command.split("\0").includes("portal")) ?? [];
  if (portal === undefined) throw new Error("no portal is running");
  return Number(portal);
}

/** Resident memory of a process, bytes. */
export async function residentBytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

async function startOn(place: Place, variables: Readonly<Record<string, string>>): Promise<Product> {
  const { dataDir } = place;
  const running = launch(place, variables);
  const baseUrl = await waitUntilUp(running);
  return {
    baseUrl,
    demoKey: DEMO_KEY.exec(running.output())?.[0],
    dataDir,
    pid: running.child.pid ?? 0,
    output: running.output,
    stop: () => stopRunning(running),
    async kill9() {
      running.child.kill("SIGKILL");
      await running.ended;
    },
    restart: (changes = {}) => startOn(place, { ...variables, ...changes }),
    async dispose() {
      await stopRunning(running);
      await rm(dirname(dataDir), { recursive: true, force: true });
    },
  };
}

interface StartOptions {
  /** Starts on an empty data directory, as after an installation. Otherwise the database has been set up already. */
  readonly emptyData?: boolean;
  /** The folder of another release of the product; this one by default. */
  readonly folder?: string;
  /** Files that each of its processes may open; those of the tests by default. */
  readonly filesMaxCount?: number;
}

/** Copies a data directory that the product has set up, with its owners and permissions. */
async function copyUsedData(endpoint: string, dataDir: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", await askLazyEndpoint(endpoint), dataDir]);
}

/**
 * Starts the real product by the command behind `npm start`, in its own process, on a free port and a data directory of its
 * own (with a space in its path). The pages must have been built.
 * @param variables environment on top of the test's own.
 * @throws Error with the end of its output when it does not come up.
 */
export async function startProduct(
  variables: Readonly<Record<string, string>> = {},
  { emptyData = false, folder = process.cwd(), filesMaxCount }: StartOptions = {},
): Promise<Product> {
  const home = await mkdtemp(join(tmpdir(), "spotwire e2e "));
  const dataDir = join(home, "data");
  const endpoint = process.env[USED_DATA_ENDPOINT];
  try {
    // Run by root, the embedded database belongs to another user, who has to get through here.
    await chmod(home, 0o755);
    if (endpoint !== undefined && !emptyData && variables.DATABASE_URL === undefined) await copyUsedData(endpoint, dataDir);
    return await startOn({ dataDir, folder, filesMaxCount }, variables);
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}
