import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createCaller } from "./calls";

/** Clock ticks a second in /proc, fixed on Linux. */
const PROC_HZ = 100;
const START_MAX_MS = 180_000;
/** A child that does not stop within this time is killed. */
const STOP_MAX_MS = 20_000;

/** A process started by the bench. */
export interface Child {
  readonly pid: number;
  /** Calls a method of the process (see calls.ts); rejects when it fails or the process exits. */
  call<Result>(method: string, argument?: unknown): Promise<Result>;
  /** CPU seconds the process has used so far; NaN without /proc. */
  cpuSeconds(): number;
  /** CPU seconds its main thread has used so far, the one of the event loop; NaN without /proc. */
  loopSeconds(): number;
  /** CPU seconds that it and its descendants that live have used so far; NaN without /proc. */
  familySeconds(): number;
  /** Memory of it without its descendants, bytes; NaN without /proc. */
  bytes(): number;
  /** Memory of it and its descendants, bytes. */
  familyBytes(): number;
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

/** Starts a file as a server, TypeScript or built, and waits until it says where it listens. */
export function startChild(
  file: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<Contestant> {
  const process = spawnFile(file, env, args);
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

function spawnFile(file: string, env: Readonly<Record<string, string>>, args: readonly string[]): ChildProcess {
  const loader = file.endsWith(".ts") ? ["--import", "tsx"] : [];
  const child = spawn(process.execPath, ["--expose-gc", ...loader, file, ...args], {
    env: {
      PATH: "/usr/bin:/bin",
      NODE_ENV: "production",
      NEXT_TELEMETRY_DISABLED: "1",
      // As `npm start` sets it.
      MALLOC_ARENA_MAX: "1",
      MALLOC_MMAP_THRESHOLD_: "1048576",
      MALLOC_TRIM_THRESHOLD_: "4194304",
      TICK_FILTERS_OFF: "market_closed,spike,implausible_price",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
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
    cpuSeconds: () => cpuSeconds(child.pid),
    loopSeconds: () => loopSeconds(child),
    familySeconds: () => sumOf(family(child.pid).map(cpuSeconds)),
    bytes: () => proportionalBytes(child.pid),
    familyBytes: () => familyBytes(child.pid),
    stop: () => stop(child),
  };
}

function cpuSeconds(pid = 0): number {
  try {
    const [user, system] = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []).slice(11, 13);
    return (Number(user) + Number(system)) / PROC_HZ;
  } catch {
    return Number.NaN;
  }
}

/** A process and all that it and those started. */
function family(pid = 0): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    return [pid, ...children.flatMap(family)];
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

const sumOf = (numbers: readonly number[]) => numbers.filter((each) => !Number.isNaN(each)).reduce((sum, each) => sum + each, 0);

/** Memory of a process and its descendants, each shared page once (proportional set size), bytes; 0 after its end. */
export function familyBytes(pid = 0): number {
  return sumOf(family(pid).map(proportionalBytes));
}

function loopSeconds(child: ChildProcess): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e9;
  } catch {
    return Number.NaN;
  }
}

function proportionalBytes(pid = 0): number {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) * 1024;
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
