import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { processorSeconds } from "./processor-time";
import { createCaller } from "./stream-calls";

const START_MAX_MS = 180_000;
/** A child that does not stop within this time is killed. */
const STOP_MAX_MS = 20_000;

/** A process started by the bench. */
export interface Child {
  readonly pid: number;
  /** Calls a method of the process (see stream-calls.ts); rejects when it fails or the process exits. */
  call<Result>(method: string, argument?: unknown): Promise<Result>;
  /** CPU seconds the process has used so far; NaN without /proc. */
  cpuSeconds(): number;
  /** CPU seconds its main thread has used so far, the one of the event loop; NaN without /proc. */
  loopSeconds(): number;
  /** Resident memory, bytes; NaN without /proc. */
  residentBytes(): number;
  /** Stops it; resolves when it has exited. */
  stop(): Promise<void>;
}

/** A server under test, in a separate process. */
export interface Contestant extends Child {
  readonly url: string;
  /** Its output before it was ready. */
  readonly output: string;
}

/** Runs a TypeScript file in a child process that always exits with this one. */
export function startProcess(file: string): Child {
  return childOf(spawnFile(file, {}, []));
}

/** How a server says where it listens: our benches and Next in words, the product in its log. */
const LISTENING = /(?:listening on|Local:) +(http:\/\/\S+)|"address":"(http:\/\/[^"]+)"[^\n]*"msg":"listening"/;

/** How a server is started. */
interface Starting {
  readonly args?: readonly string[];
  /** Where the file is looked for, and started. */
  readonly cwd?: string;
}

/** Starts a file as a server, TypeScript or built, and waits until it says where it listens. */
export function startChild(
  file: string,
  env: Readonly<Record<string, string>> = {},
  { args = [], cwd }: Starting = {},
): Promise<Contestant> {
  const process = spawnFile(file, env, args, cwd);
  const child = childOf(process);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      void child.stop();
      reject(new Error(`${file} did not start`));
    }, START_MAX_MS);
    let output = "";
    process.stdout?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8_192);
      const [, said, logged] = LISTENING.exec(output) ?? [];
      const url = said ?? logged;
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ ...child, url, output });
    });
    process.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`${file} exited with ${code}\n${output}`));
    });
  });
}

function spawnFile(file: string, env: Readonly<Record<string, string>>, args: readonly string[], cwd?: string): ChildProcess {
  const loader = file.endsWith(".ts") ? ["--import", "tsx"] : [];
  const child = spawn(process.execPath, ["--expose-gc", ...loader, file, ...args], {
    env: {
      PATH: "/usr/bin:/bin",
      NODE_ENV: "production",
      NEXT_TELEMETRY_DISABLED: "1",
      TICK_FILTERS_OFF: "market_closed,spike,implausible_price",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    cwd,
  });
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  return child;
}

function childOf(child: ChildProcess): Child {
  return {
    pid: child.pid ?? 0,
    call: createCaller(child),
    cpuSeconds: () => cpuSeconds(child),
    loopSeconds: () => loopSeconds(child),
    residentBytes: () => residentBytes(child),
    stop: () => stop(child),
  };
}

function cpuSeconds(child: ChildProcess): number {
  try {
    return processorSeconds(child.pid ?? 0);
  } catch {
    return Number.NaN;
  }
}

function loopSeconds(child: ChildProcess): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e9;
  } catch {
    return Number.NaN;
  }
}

function residentBytes(child: ChildProcess): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MAX_MS);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill("SIGTERM");
  });
}
