import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import type { RunningImport } from "#server/pages/uploads";

/** The importer's command beside this program: built, or its source in development. */
function commandOf(program: string): string {
  return path.join(path.dirname(program), program.endsWith(".ts") ? "import/index.ts" : "import.mjs");
}

/**
 * Runs the importer's command in a process of its own, as `npm run import` does, so that a large file takes neither time nor memory
 * from the pages.
 */
export function startImport(args: readonly string[], onLine: (line: string) => void): RunningImport {
  const [, program = ""] = process.argv;
  const flags = process.execArgv.filter((flag) => !/^--(inspect|max-)/.test(flag));
  const child = spawn(process.execPath, [...flags, commandOf(program), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      onLine(`The import could not be started: ${error.message}`);
      resolve(null);
    });
    child.once("close", resolve);
  });
  return { ended, stop: () => void child.kill("SIGINT") };
}
