import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const START_MAX_MS = 180_000;
/** Clock ticks a second in /proc, fixed on Linux. */
const PROC_HZ = 100;

/** A server under test, in a process of its own. */
export interface Contestant {
  readonly url: string;
  /** What it printed before it was ready. */
  readonly output: string;
  /** CPU seconds the process has used so far; NaN where /proc is not there. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** Starts a TypeScript file as a server and waits for its "listening on URL" line. */
export function startChild(file: string, env: Record<string, string>, args: readonly string[] = []): Promise<Contestant> {
  const child = spawn(process.execPath, ["--import", "tsx", file, ...args], {
    env: { PATH: "/usr/bin:/bin", NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${file} did not start`)), START_MAX_MS);
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8_192);
      const url = /listening on (http:\/\/\S+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ url, output, cpuSeconds: () => cpuSeconds(child), stop: () => stop(child) });
    });
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}\n${output}`)));
  });
}

function cpuSeconds(child: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / PROC_HZ;
  } catch {
    return Number.NaN;
  }
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
