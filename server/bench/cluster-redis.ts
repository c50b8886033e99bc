import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** Server programs that speak the protocol. */
const PROGRAMS = ["valkey-server", "redis-server"] as const;
const START_MAX_MS = 10_000;

/** A Redis server started by the bench. */
interface OwnRedis {
  readonly url: string;
  stop(): Promise<void>;
}

/** Returns a port that is currently free. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Starts the first server that is installed, without persistence; undefined when none is. */
export async function startOwnRedis(): Promise<OwnRedis | undefined> {
  for (const program of PROGRAMS) {
    const started = await start(program, await freePort());
    if (started !== undefined) return started;
  }
  return undefined;
}

function start(program: string, port: number): Promise<OwnRedis | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
  const child = spawn(program, options, { stdio: ["ignore", "pipe", "inherit"] });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  async function stop(): Promise<void> {
    process.off("exit", end);
    end();
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => void stop().then(() => reject(new Error(`${program} did not start`))), START_MAX_MS);
    child.once("error", () => {
      clearTimeout(timer);
      process.off("exit", end);
      rmSync(folder, { recursive: true, force: true });
      resolve(undefined);
    });
    child.stdout.on("data", (chunk: Buffer) => {
      if (!chunk.includes("eady to accept connections")) return;
      clearTimeout(timer);
      resolve({ url: `redis://127.0.0.1:${port}`, stop });
    });
  });
}
