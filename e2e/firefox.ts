import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, firefox } from "playwright";
import { findOnPath, missing } from "#lib/testing/packages";

/** Firefox, or why there is none. */
export type FoundFirefox = { readonly browser: Browser; close(): Promise<void> } | { readonly missing: string };

/** What Playwright runs: {@link file://./firefox-bridge.ts} with the path of the real browser. */
async function writeLauncher(folder: string, executable: string): Promise<string> {
  const loader = createRequire(import.meta.url).resolve("tsx");
  const path = join(folder, "firefox");
  const quoted = [process.execPath, "--import", loader, resolve("e2e/firefox-bridge.ts"), executable].map((part) => `'${part}'`);
  await writeFile(path, `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

/** Opens the distribution's Firefox, headless. Media features can't be emulated. */
export async function openFirefox(): Promise<FoundFirefox> {
  const executable = findOnPath(["firefox-esr", "firefox"]);
  if (executable === undefined) return { missing: missing("firefox-esr") ?? "" };
  const folder = await mkdtemp(join(tmpdir(), "spotwire-firefox-"));
  const executablePath = await writeLauncher(folder, executable);
  const browser = await firefox.launch({ channel: "moz-firefox", executablePath });
  return {
    browser,
    close: async () => {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
