import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { installPackage } from "#lib/testing/packages";
import { buildPythonClient } from "#server/cli/build-python-client";

const run = promisify(execFile);
/** The Python of Debian, for which the packages below are made: another one may come first on the path. */
export const DEBIAN = "/usr/bin/python3";
const CLIENT_PACKAGES = { httpx: "python3-httpx", websockets: "python3-websockets" } as const;
/** Long enough for a slow index, short enough for one that cannot be reached. */
const PIP_TIMEOUT_MS = 240_000;

/** A Python in which the client can run. */
export interface Python {
  readonly command: string;
  /** The variables that let it find the client. */
  readonly env: Readonly<Record<string, string>>;
}

/** The reason why something is not there. */
interface Missing {
  readonly missing: string;
}

const isThere = (command: string, module: string) =>
  run(command, ["-c", `import ${module}`]).then(
    () => true,
    () => false,
  );

/** The Python of Debian with more of its packages, by the names of their modules; installed where that can be done. */
export async function withPackages(sources: string, packages: Readonly<Record<string, string>>): Promise<Python | Missing> {
  if (!(await isThere(DEBIAN, "sys"))) return { missing: `${DEBIAN} does not run` };
  for (const [module, name] of Object.entries({ ...CLIENT_PACKAGES, ...packages })) {
    if (await isThere(DEBIAN, module)) continue;
    const failure = await installPackage(name);
    if (failure !== null) return { missing: `${name} is not installed: ${failure}` };
  }
  return { command: DEBIAN, env: { PYTHONPATH: sources } };
}

/** The Python of Debian with what the client needs. */
export const debianPython = (sources: string) => withPackages(sources, {});

/** The same Python with the newest websockets of an index, where pip reaches one. */
export async function newestPython(sources: string, folder: string): Promise<Python | Missing> {
  const debian = await withPackages(sources, { pip: "python3-pip" });
  if ("missing" in debian) return debian;
  const target = path.join(folder, "newest");
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--retries=0", "--timeout=10"];
  const args = ["-m", "pip", "install", ...quiet, `--target=${target}`, "websockets>=13"];
  const failure = await run(DEBIAN, args, { timeout: PIP_TIMEOUT_MS }).then(
    () => null,
    (error: Error) => error.message.split("\n").at(-2) ?? error.message,
  );
  if (failure !== null) return { missing: `pip found no websockets 13 or later: ${failure}` };
  return { command: DEBIAN, env: { PYTHONPATH: [target, sources].join(path.delimiter) } };
}

/** The sources of the client in a folder of its own. */
export async function builtSources(): Promise<{ folder: string; sources: string; wheel: string; sdist: string; remove(): void }> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-python-"));
  const sources = path.join(folder, "packed", "client");
  const [wheel, sdist] = await buildPythonClient(sources);
  return { folder, sources, wheel, sdist, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
