import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DEBIAN_PYTHON, hasNewestWebsockets, missing, NEWEST_WEBSOCKETS, type Package } from "#lib/testing/packages";
import { buildPythonClient } from "#server/cli/build-python-client";

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

/** The Python of Debian with what the client needs, and with more of its packages. */
export function withPackages(sources: string, ...packages: readonly Package[]): Python | Missing {
  const absent = missing("python3", "python3-httpx", "python3-websockets", ...packages);
  return absent === null ? { command: DEBIAN_PYTHON, env: { PYTHONPATH: sources } } : { missing: absent };
}

/** The same Python with the newest websockets of an index, if pip has installed them before the tests. */
export function newestPython(sources: string): Python | Missing {
  const debian = withPackages(sources);
  if ("missing" in debian) return debian;
  if (!hasNewestWebsockets()) return { missing: "not installed: websockets 13 or later, which pip brings" };
  return { command: DEBIAN_PYTHON, env: { PYTHONPATH: [NEWEST_WEBSOCKETS, sources].join(path.delimiter) } };
}

/** The sources of the client in a folder of its own. */
export async function builtSources(): Promise<{ folder: string; sources: string; wheel: string; sdist: string; remove(): void }> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-python-"));
  const sources = path.join(folder, "packed", "client");
  const [wheel, sdist] = await buildPythonClient(sources);
  return { folder, sources, wheel, sdist, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
