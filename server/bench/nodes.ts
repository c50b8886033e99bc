import { spawn } from "node:child_process";
import { toolNode } from "#lib/testing/tools";
import { createCaller } from "./calls";
import type { Effort } from "./load";
import type { BenchName } from "./options";
import type { Row } from "./table";

const NEWEST = "26";
/** The oldest and the newest Node that the service runs on. */
export const MEASURED = ["20", NEWEST] as const;

/** With the newest alone, because each takes about as long as all calls: what they compare hardly depends on the Node. */
const NEWEST_ALONE: readonly BenchName[] = ["next", "cold", "import", "units", "memory", "history"];

/** The Nodes that measure a bench. */
export const nodesOf = (name: BenchName) => (NEWEST_ALONE.includes(name) ? MEASURED.slice(-1) : MEASURED);

/** Runs benches with one Node, the load and the rivals too. */
export interface Runner {
  run(name: BenchName, effort: Effort): Promise<Row[]>;
  /** Ends it with all that it started. */
  stop(): void;
}

/** Starts a process that runs benches with the program of a Node. */
function startRunner(node: string, folder = "."): Runner {
  const stdio = ["ignore", "inherit", "inherit", "ipc"] as const;
  const child = spawn(node, ["--import", "tsx", "server/bench/runner.ts"], { stdio: [...stdio], cwd: folder });
  const call = createCaller(child);
  return { run: (name, effort) => call("run", { name, effort }), stop: () => child.kill("SIGTERM") };
}

/** Starts one with the newest Node, of the benches in a checkout. @throws Error on a system that has no Node in the registry */
export const startNewest = async (folder?: string): Promise<Runner> => startRunner(await toolNode(NEWEST), folder);

/** Starts one for each Node of the table, by its major version. @throws Error on a system that has no Node in the registry */
export async function startRunners(): Promise<Map<string, Runner>> {
  const runners = new Map<string, Runner>();
  for (const major of MEASURED) runners.set(major, startRunner(await toolNode(major)));
  return runners;
}
