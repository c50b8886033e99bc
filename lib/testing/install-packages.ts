import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { asRoot, DEBIAN_PYTHON, hasNewestWebsockets, missing, NEWEST_WEBSOCKETS, type Package } from "./packages";

/** Another installer of this machine may hold the lock of Debian's packages for minutes. */
const LOCK_TIMEOUT_S = 600;

/** Services of installed packages must not start; an image may have its own policy for that, which stays. */
const INSTALL = `set -e
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod +x $policy
fi
apt-get -o DPkg::Lock::Timeout=${LOCK_TIMEOUT_S} -qq update
offered=""
for name in "$@"; do
  if apt-cache show "$name" > /dev/null 2>&1; then offered="$offered $name"; else echo "$name is not offered by this system"; fi
done
apt-get -o DPkg::Lock::Timeout=${LOCK_TIMEOUT_S} install -y --no-install-recommends -o Dpkg::Progress-Fancy=0 $offered`;

/** Shows what the command prints. @returns null on success, else why it failed */
function show(command: string, args: readonly string[]): string | null {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  return status === 0 ? null : (error?.message ?? `${command} ended with ${status}`);
}

/** A package that is not there, and why it could not be installed. */
interface Lacking {
  readonly name: Package;
  readonly why: string;
}

/**
 * Installs packages that are not there yet, all in one go: with apt-get where this is root on Debian, the browser else by Playwright.
 * @returns what is still missing, with the reason
 */
export function installPackages(names: readonly Package[]): Lacking[] {
  const absent = () => names.filter((name) => missing(name) !== null);
  let why: string | null = "no root, or no apt-get";
  if (absent().length > 0 && asRoot && existsSync("/usr/bin/apt-get")) {
    process.stdout.write(`Installing for the tests: ${absent().join(", ")}\n`);
    why = show("sh", ["-c", INSTALL, "sh", ...absent()]);
  }
  if (absent().includes("chromium-headless-shell")) {
    const failed = show("npx", ["playwright", "install", "chromium"]);
    if (failed !== null) why = `${why ?? "not offered by this system"}; ${failed}`;
  }
  return absent().map((name) => ({ name, why: why ?? "not offered by this system" }));
}

/** Installs what pip alone brings, where it reaches an index. */
export function installNewestWebsockets(): void {
  if (missing("python3-pip") !== null || hasNewestWebsockets()) return;
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--retries=0", "--timeout=10"];
  show(DEBIAN_PYTHON, ["-m", "pip", "install", ...quiet, `--target=${NEWEST_WEBSOCKETS}`, "websockets>=13"]);
}
