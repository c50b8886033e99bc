import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asRoot, findOnPath } from "#lib/testing/packages";
import { recipeOf } from "./proxies";
import { SERVER_TIMEOUT_MS } from "./server";

const UNIT = readFileSync("server/deploy/systemd/spotwire.service", "utf8");
const CREDENTIALS = readFileSync("server/deploy/systemd/credentials.conf", "utf8");
/** The user nobody, which every system has: PostgreSQL needs a name for its user. */
const USER_ID = 65_534;
/** What systemd does of the unit that can be done without it: the user, no capabilities, no new ones. */
const AS_SERVICE = `setpriv --reuid=${USER_ID} --regid=${USER_ID} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all`;

const valuesOf = (key: string) => [...UNIT.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
const asService = (command: string) => [
  "-c",
  `umask ${valuesOf("UMask")} && exec ${AS_SERVICE} ${command.replace("/usr/bin/node", process.execPath)}`,
];

/** The address that the service says it listens on. */
async function addressOf(child: ChildProcess, output: () => string): Promise<string> {
  for (;;) {
    const found = /"address":"(http:[^"]+)"/.exec(output())?.[1];
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${output()}`);
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, "data"), once(child, "exit")]);
  }
}

test(
  "the command of the unit runs as a system user without capabilities, with its settings and secrets, and so do commands beside it",
  async ({ skip }) => {
    skip(!asRoot || findOnPath(["setpriv"]) === undefined, "only root can become another user, with setpriv");
    const readable = spawnSync("bash", ["-c", `${AS_SERVICE} test -r .next/spotwire/main.mjs`]).status === 0;
    skip(!readable, "the user nobody cannot enter the folder of the project");
    const home = mkdtempSync(path.join(tmpdir(), "spotwire-systemd-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
    chmodSync(home, 0o755);
    const [state, secret] = [path.join(home, "state"), path.join(home, "NEXTAUTH_SECRET")];
    mkdirSync(state, { mode: Number.parseInt(String(valuesOf("StateDirectoryMode")), 8) });
    writeFileSync(secret, "0123456789abcdef".repeat(6), { mode: 0o400 });
    for (const own of [state, secret]) chownSync(own, USER_ID, USER_ID);
    expect(CREDENTIALS).toContain("NEXTAUTH_SECRET_FILE=%d/NEXTAUTH_SECRET");

    const settings = [...valuesOf("Environment"), await recipeOf("deploy", "bash", "echo PUBLIC_URL")].join(" ");
    const set = Object.fromEntries([...settings.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]));
    expect(set).toMatchObject({ NODE_ENV: "production", PUBLIC_URL: "https://market.example.com" });
    const env = {
      ...set,
      NODE_ENV: "production",
      DATA_DIR: state,
      NEXTAUTH_SECRET_FILE: secret,
      PORT: "0",
      HOST: "127.0.0.1",
    } as const;
    const child = spawn("bash", asService(String(valuesOf("ExecStart"))), { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    const url = await addressOf(child, () => output);
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
    expect(readFileSync(`/proc/${child.pid}/status`, "utf8")).toMatch(/^Uid:\s+65534\s[\s\S]*^CapEff:\s+0+$/m);
    expect(statSync(path.join(state, "postgres")).uid).toBe(USER_ID);

    const beside = await recipeOf("deploy", "bash", "systemd-run --pty");
    const given = [...beside.matchAll(/--setenv=([A-Z_]+)=/g)].map(([, name]) => name);
    expect(Object.keys(env)).toEqual(expect.arrayContaining(given));
    const said = spawnSync("bash", asService(/\/usr\/bin\/node .*/.exec(beside)?.[0] ?? ""), { env, encoding: "utf8" });
    expect(said.stdout + said.stderr).toContain("you@example.com");

    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  },
  SERVER_TIMEOUT_MS,
);
