import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { installPackages } from "#lib/testing/install-packages";
import { asRoot, findOnPath } from "#lib/testing/packages";

/**
 * `npm run test:image`: builds the Dockerfile as it stands with Debian's buildah, which needs no daemon, on a base of Debian
 * and this machine's Node; starts the image as its user, asks it for quotes and pages, runs its commands and stops it.
 */

const exec = promisify(execFile);
const CACHE = path.resolve("node_modules", ".cache", "spotwire-image");
const BASE_TAR = path.join(CACHE, "base.tar");
const BASE = "localhost/spotwire-test-base";
const IMAGE = "localhost/spotwire-test";
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
const START_MAX_MS = 180_000;
/** The drain takes ten seconds at most; compose.yaml and Kubernetes kill after twice as long. */
const STOP_MAX_MS = 20_000;
const IMAGE_MAX_MB = 600;
const LISTENING = /"address":"(?<address>http:[^"]+)","demo_key":"(?<key>sw_test_\w+)","msg":"listening"/;
const PAGES = [
  "/",
  "/markets",
  "/markets/EURUSD",
  "/data",
  "/docs",
  "/docs/klines",
  "/playground",
  "/status",
  "/signin",
  "/openapi.json",
];
/** Commands that change nothing, in the image as an operator runs them in a container. */
const COMMANDS = [
  ["keys", "list"],
  ["backup", "backup", "--to", "/tmp/of-the-image.backup"],
  ["instruments", "list"],
] as const;

const env = { ...process.env, BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs" };
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Listening {
  readonly address: string;
  /** The public demo key. */
  readonly key: string;
}

/** Runs buildah and returns what it printed. @throws Error with its output */
async function buildah(...args: readonly string[]): Promise<string> {
  const { stdout } = await exec("buildah", [...args], { env, maxBuffer: OUTPUT_MAX_BYTES });
  return stdout.trim();
}

function requireTools(): void {
  if (!asRoot) throw new Error("buildah and mmdebstrap are run by root here.");
  const [lacking] = installPackages(["buildah", "mmdebstrap"]);
  if (lacking !== undefined) throw new Error(`${lacking.name} is not installed: ${lacking.why}`);
}

/** A base like Node's official slim image: Debian without documentation, Node with npm, and the user node. */
async function makeBase(): Promise<void> {
  if (!existsSync(BASE_TAR)) {
    mkdirSync(CACHE, { recursive: true });
    const left = ["doc", "man", "locale"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    await exec("mmdebstrap", [
      "--variant=minbase",
      "--format=tar",
      "--include=ca-certificates",
      ...left,
      "bookworm",
      `${BASE_TAR}.part`,
    ]);
    cpSync(`${BASE_TAR}.part`, BASE_TAR);
    rmSync(`${BASE_TAR}.part`);
  }
  const npm = path.resolve(realpathSync(findOnPath(["npm"]) ?? ""), "..", "..");
  const container = await buildah("from", "scratch");
  await buildah("add", container, BASE_TAR, "/");
  await buildah("copy", container, process.execPath, "/usr/local/bin/node");
  await buildah("copy", container, npm, "/usr/local/lib/node_modules/npm");
  const links = "ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --create-home node";
  await buildah("run", container, "--", "sh", "-c", links);
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities !== undefined) {
    await buildah("copy", container, realpathSync(authorities), "/usr/local/share/authorities.pem");
    await buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/usr/local/share/authorities.pem", container);
  }
  await buildah("commit", "--rm", container, BASE);
}

/** Size of a folder of an image, MB. */
async function megabytes(folder: string): Promise<number> {
  const { stdout } = await exec("du", ["--summarize", "--block-size=1000000", folder]);
  return Number.parseInt(stdout, 10);
}

async function reportSize(root: string): Promise<void> {
  const parts = ["usr/local", "app/node_modules", "app/.next", "app", ""];
  const [node, packages, built, app, all] = await Promise.all(parts.map((part) => megabytes(path.join(root, part))));
  assert.ok(node && packages && built && app && all);
  say(`image: ${all} MB`);
  say(`  Debian            ${all - app - node} MB`);
  say(`  Node and npm      ${node} MB`);
  say(`  packages          ${packages} MB`);
  say(`  pages and bundles ${built} MB`);
  say(`  the rest          ${app - packages - built} MB`);
  assert.ok(all < IMAGE_MAX_MB, `The image takes ${all} MB, more than ${IMAGE_MAX_MB}.`);
}

/** The process that runs these arguments with Node, below the ones of buildah. */
function findProcess(pid: number, args: readonly string[]): number | undefined {
  const [program = "", ...given] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  if (path.basename(program) === "node" && given.join(" ") === args.join(" ")) return pid;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
    for (const child of children) {
      const found = findProcess(Number(child), args);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Resolves with the address and the demo key once the service listens. */
function untilListening(child: ChildProcess): Promise<Listening> {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => reject(new Error(`Not up after ${START_MAX_MS} ms:\n${output}`)), START_MAX_MS);
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const { address, key } = LISTENING.exec(output)?.groups ?? {};
      if (address === undefined || key === undefined) return;
      clearTimeout(timer);
      resolve({ address, key });
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => reject(new Error(`The image ended with ${code}:\n${output}`)));
  });
}

async function ask({ address, key }: Listening): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const quotes = await fetch(`${address}/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD`, { headers });
  const { data } = (await quotes.json()) as { data: { items: unknown[] } };
  assert.equal(data.items.length, 2);
  for (const page of PAGES) {
    const response = await fetch(address + page);
    assert.equal(response.status, 200, page);
    assert.ok((await response.text()).length > 0, page);
  }
  say(`answered: quotes and ${PAGES.length} pages`);
}

async function runImage(container: string): Promise<void> {
  const { config } = (JSON.parse(await buildah("inspect", container)) as { OCIv1: { config: { Cmd: string[]; User: string } } })
    .OCIv1;
  assert.equal(config.User, "node");
  const startedMs = Date.now();
  // A group of its own: a signal to buildah alone would leave the command running.
  const child = spawn("buildah", ["run", "--env", "PORT=0", "--env", "HOST=127.0.0.1", container, "--", ...config.Cmd], {
    env,
  });
  try {
    const listening = await untilListening(child);
    say(`listens after ${Date.now() - startedMs} ms, as user ${config.User}`);
    const pid = findProcess(child.pid ?? 0, config.Cmd.slice(1));
    assert.ok(pid, "the command runs");
    assert.match(readFileSync(`/proc/${pid}/status`, "utf8"), /^Uid:\s+1000\s/m);
    await ask(listening);
    for (const [name, ...args] of COMMANDS) {
      await buildah("run", container, "--", "node", `.next/spotwire/${name}.mjs`, ...args);
      say(`command: ${name} ${args[0]}`);
    }
    const stoppedMs = Date.now();
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    process.kill(pid, "SIGTERM");
    const late = setTimeout(() => process.kill(pid, "SIGKILL"), STOP_MAX_MS);
    assert.equal(await ended, 0, "exit code after SIGTERM");
    clearTimeout(late);
    say(`stopped by SIGTERM after ${Date.now() - stoppedMs} ms, exit code 0`);
  } finally {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }
}

requireTools();
await makeBase();
say("base: Debian bookworm with this machine's Node");
const builtMs = Date.now();
await buildah("bud", "--build-arg", `NODE_IMAGE=${BASE}`, "--tag", IMAGE, "--file", "Dockerfile", ".");
say(`built in ${Math.round((Date.now() - builtMs) / 1000)} s`);
const container = await buildah("from", "--pull-never", IMAGE);
try {
  await reportSize(await buildah("mount", container));
  await runImage(container);
} finally {
  await buildah("rm", container);
  await buildah("rmi", IMAGE, BASE);
}
say("the image works");
