import { spawn } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** Maximum time to install a package. */
export const PACKAGE_TIMEOUT_MS = 360_000;
/** How much output of a failed installer an error repeats. */
const OUTPUT_TAIL_CHARACTERS = 600;

/** Whether this process may install packages. */
export const asRoot = process.getuid?.() === 0;

/** Whether there is a program at this path. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of the first of these programs that is installed. */
export function findOnPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Runs a command to its end; resolves to null on success, else to the reason. Waits without blocking the runner. */
export function run(command: string, args: string[], timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    let output = "";
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_TAIL_CHARACTERS);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? code}: ${output.trim()}`));
  });
}

/** Services of installed packages must not start; an image may have its own policy for that, which stays. */
const INSTALL = `policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod +x $policy
fi
apt-get -o DPkg::Lock::Timeout=300 update
apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"`;
const LOCK = join(tmpdir(), "spotwire-packages.lock");

/** Installs packages of Debian, one call at a time on this machine; resolves to null on success, else to the reason. */
export async function installPackage(...names: string[]): Promise<string | null> {
  if (!asRoot || !existsSync("/usr/bin/apt-get")) return "apt-get needs root";
  return run("flock", [LOCK, "sh", "-c", INSTALL, "sh", ...names], PACKAGE_TIMEOUT_MS);
}
