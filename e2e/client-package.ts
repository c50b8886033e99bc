import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "..");

/**
 * Builds the TypeScript client in a folder, not in `dist`, where other tests build it at the same time, and installs it there for
 * programs of the folder. @throws Error with what the build printed
 */
export function installClient(folder: string): void {
  const dist = path.join(folder, "dist");
  const command = ["--import", "tsx", "server/cli/build-client.ts", dist];
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`The client cannot be built: ${stderr}`);
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(path.join(dist, "client"), path.join(folder, "node_modules", "spotwire-client"));
}
