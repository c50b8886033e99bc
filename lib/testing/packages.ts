import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { cacheFolder } from "./cache-folder";

/**
 * Programs that tests run and that npm does not bring. They are installed before the first test (`install-packages.ts`), never by a
 * test: one that misses a program is skipped, and `missing` is its reason.
 */

/** The path of the first of these programs that is installed. */
export function findOnPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Whether there is a program at this path. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The Python of Debian, for which its packages are made: another one may come first on the path. */
export const DEBIAN_PYTHON = "/usr/bin/python3";
/** Debian's packages of Go and Rust lie here. */
export const GO_PATH = "/usr/share/gocode";
export const CRATES = "/usr/share/cargo/registry";
/** Shifts the clock of a process that is started with it. */
export const CLOCK_LIBRARY = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/faketime/libfaketimeMT.so.1`;

/** The headless shell takes a third of the time of a full browser to draw a page, because it has no window. */
export const BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
export const REDIS_SERVERS = ["valkey-server", "redis-server"];

const onPath = (...names: string[]) => findOnPath(names) !== undefined;
const imports = (module: string) => spawnSync(DEBIAN_PYTHON, ["-c", `import ${module}`], { stdio: "ignore" }).status === 0;
const goSource = (name: string) => existsSync(join(GO_PATH, "src", name));
const crate = (name: string) => spawnSync("sh", ["-c", `ls -d ${CRATES}/${name}-[0-9]*`], { stdio: "ignore" }).status === 0;

/** Whether Playwright has downloaded its own browser. Loaded here, because few tests need a browser. */
function hasDownloadedBrowser(): boolean {
  const { chromium } = createRequire(import.meta.url)("playwright") as typeof import("playwright");
  return isExecutable(chromium.executablePath());
}

/** Debian's packages that a test may need, and how to see that what it runs is there, from wherever it came. */
const PACKAGES = {
  "chromium-headless-shell": () => Boolean(process.env.CHROMIUM_PATH) || onPath(...BROWSERS) || hasDownloadedBrowser(),
  "redis-server": () => onPath(...REDIS_SERVERS),
  openssl: () => onPath("openssl"),
  "firefox-esr": () => onPath("firefox-esr", "firefox"),
  caddy: () => onPath("caddy"),
  nginx: () => onPath("nginx"),
  pgbouncer: () => onPath("pgbouncer"),
  buildah: () => onPath("buildah"),
  mmdebstrap: () => onPath("mmdebstrap"),
  prometheus: () => onPath("promtool"),
  systemd: () => onPath("systemd-analyze"),
  "g++": () => onPath("g++"),
  libfaketime: () => existsSync(CLOCK_LIBRARY),
  curl: () => onPath("curl"),
  python3: () => isExecutable(DEBIAN_PYTHON),
  "python3-httpx": () => imports("httpx"),
  "python3-websockets": () => imports("websockets"),
  "python3-msgpack": () => imports("msgpack"),
  "python3-pandas": () => imports("pandas"),
  "python3-matplotlib": () => imports("matplotlib"),
  "python3-tqdm": () => imports("tqdm"),
  "python3-pip": () => imports("pip"),
  "python3-setuptools": () => imports("setuptools"),
  "python3-wheel": () => imports("wheel"),
  mypy: () => imports("mypy"),
  "libquickfix-dev": () => existsSync("/usr/include/quickfix/Application.h"),
  "golang-go": () => onPath("go"),
  "golang-github-gorilla-websocket-dev": () => goSource("github.com/gorilla/websocket"),
  "golang-github-masterminds-sprig-dev": () => goSource("github.com/Masterminds/sprig"),
  "golang-k8s-sigs-yaml-dev": () => goSource("sigs.k8s.io/yaml"),
  "default-jdk-headless": () => onPath("javac"),
  "mono-mcs": () => onPath("mcs"),
  "libmono-system-net-http4.0-cil": () => existsSync("/usr/lib/mono/4.5/System.Net.Http.dll"),
  cargo: () => onPath("cargo"),
  rustfmt: () => onPath("rustfmt"),
  "librust-reqwest-dev": () => crate("reqwest"),
  "librust-tungstenite-dev": () => crate("tungstenite"),
  "php-cli": () => onPath("php"),
  "php-curl": () => spawnSync("php", ["-r", 'exit(function_exists("curl_init") ? 0 : 1);'], { stdio: "ignore" }).status === 0,
} as const;
export type Package = keyof typeof PACKAGES;

/** Where the newest websockets for Python are, which no package of Debian brings. */
export const NEWEST_WEBSOCKETS = join(cacheFolder("python"), "websockets-newest");
export const hasNewestWebsockets = () => existsSync(join(NEWEST_WEBSOCKETS, "websockets"));

/** What the tests of `npm test` run; the others belong to `npm run test:all`. */
export const QUICK_PACKAGES: readonly Package[] = ["chromium-headless-shell", "redis-server", "openssl"];
export const ALL_PACKAGES = Object.keys(PACKAGES) as Package[];

/** Why a test that runs these packages is skipped; null where all are there. */
export function missing(...names: readonly Package[]): string | null {
  const lacking = names.filter((name) => !PACKAGES[name]());
  return lacking.length === 0 ? null : `not installed: ${lacking.join(", ")}`;
}

/** Whether this process may install packages of the system. */
export const asRoot = process.getuid?.() === 0;

/** How much output of a failed command an error repeats. */
const OUTPUT_TAIL_CHARACTERS = 600;

/** Runs a command to its end; resolves to null on success, else to the reason. Waits without blocking the runner. */
export function run(command: string, args: string[], timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs });
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
