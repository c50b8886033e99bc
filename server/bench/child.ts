import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createCaller } from "./stream-calls";

const START_MAX_MS = 180_000;
/** A child that was asked to end is killed after this. */
const STOP_MAX_MS = 20_000;
/** Clock ticks a second in /proc, fixed on Linux. */
const PROC_HZ = 100;

/** A process of the bench's own. */
export interface Child {
  /** Calls what the process answers by that name (see stream-calls.ts); rejects when that fails or the process ends. */
  call<Result>(method: string, argument?: unknown): Promise<Result>;
  /** CPU seconds the process has used so far; NaN where /proc is not there. */
  cpuSeconds(): number;
  /** Memory that is resident now, bytes; NaN where /proc is not there. */
  residentBytes(): number;
  /** Ends it; resolves when it is gone, at once when it is gone already. */
  stop(): Promise<void>;
}

/** A server under test, in a process of its own. */
export interface Contestant extends Child {
  readonly url: string;
  /** What it printed before it was ready. */
  readonly output: string;
}

/** Starts a TypeScript file in a process of its own, which ends with this one whatever happens. */
export function startProcess(file: string, env: Record<string, string> = {}, args: readonly string[] = []): Child {
  return childOf(spawnFile(file, env, args));
}

/** Starts a file as a server, TypeScript or built, and waits for its "listening on URL" line. */
export function startChild(file: string, env: Record<string, string>, args: readonly string[] = []): Promise<Contestant> {
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
      const url = /listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ ...child, url, output });
    });
    process.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`${file} ended with ${code}\n${output}`));
    });
  });
}

function spawnFile(file: string, env: Record<string, string>, args: readonly string[]): ChildProcess {
  const loader = file.endsWith(".ts") ? ["--import", "tsx"] : [];
  const child = spawn(process.execPath, ["--expose-gc", ...loader, file, ...args], {
    env: { PATH: "/usr/bin:/bin", NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", ...env },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  return child;
}

function childOf(child: ChildProcess): Child {
  return {
    call: createCaller(child),
    cpuSeconds: () => cpuSeconds(child),
    residentBytes: () => residentBytes(child),
    stop: () => stop(child),
  };
}

function cpuSeconds(child: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / PROC_HZ;
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
