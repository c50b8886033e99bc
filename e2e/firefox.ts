import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, firefox } from "playwright";
import { findOnPath, installPackage } from "#lib/testing/packages";

const PACKAGE = "firefox-esr";

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

/** Opens the distribution's Firefox, headless; installs it where that takes only a package. Media features can't be emulated. */
export async function openFirefox(): Promise<FoundFirefox> {
  const installed = findOnPath([PACKAGE, "firefox"]);
  const failure = installed === undefined ? await installPackage(PACKAGE) : null;
  const executable = installed ?? findOnPath([PACKAGE]);
  if (executable === undefined) return { missing: `Firefox is not installed, and apt-get said: ${failure}` };
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
