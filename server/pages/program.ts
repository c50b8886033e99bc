import { readFileSync } from "node:fs";
import path from "node:path";
import manifest from "../../package.json" with { type: "json" };

/** What the build was made of, in a few characters; written by it, and relative to the working directory. */
export const BUILD_FILE = path.join(".next", "spotwire-build");

/** The program that runs here. */
interface Program {
  readonly version: string;
  /** Undefined where nothing was built, in development. */
  readonly build: string | undefined;
}

function readBuild(): string | undefined {
  try {
    return readFileSync(BUILD_FILE, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** Read once: the build of a running process does not change. */
export const PROGRAM: Program = { version: manifest.version, build: readBuild() };
