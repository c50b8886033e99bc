import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asRoot, findOnPath } from "#lib/testing/packages";
import { recipeOf } from "./proxies";
import { SERVER_TIMEOUT_MS } from "./server";

/** The user nobody, which every system has: PostgreSQL needs a name for its user. */
const USER_ID = 65_534;
/** What systemd does of the unit that can be done without it: the user, no capabilities, no new ones. */
const AS_SERVICE = `setpriv --reuid=${USER_ID} --regid=${USER_ID} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all`;
/** A copy, an installation of its packages, and a build. */
const INSTALL_TIMEOUT_MS = 600_000;

const valuesOf = (unit: string, key: string) =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);

/** Runs commands of the docs, in a shell that knows nothing of the tests. @throws Error with what they said when one fails */
function runRecipe(commands: string, cwd: string): void {
  const found = `${path.dirname(process.execPath)}:${process.env.PATH}`;
  const env = { PATH: found, HOME: process.env.HOME } as unknown as NodeJS.ProcessEnv;
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", commands], { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${commands} ended with ${status}:\n${(stdout + stderr).slice(-4_000)}`);
}

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
  "the recipe installs a copy, which builds beside what came along of another build and runs as a system user without capabilities",
  async ({ skip }) => {
    skip(!asRoot || findOnPath(["setpriv"]) === undefined, "only root can become another user, with setpriv");
    // Too large for a folder in memory.
    const home = mkdtempSync("/var/tmp/spotwire-systemd-");
    onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
    chmodSync(home, 0o755);
    for (const folder of ["opt", "etc/systemd/system", "var/lib/spotwire"])
      mkdirSync(path.join(home, folder), { recursive: true });
    /** The same with the folders of the system below that of the test. */
    const here = (text: string) => text.replace(/(?<![\w/])\/(?=opt\/|etc\/|var\/lib\/)/g, `${home}/`);
    const recipe = async (text: string) => here(await recipeOf("deploy", "bash", text));
    const program = here("/opt/spotwire");
    const builtIn = () => readFileSync(path.join(program, ".next", "spotwire-folder"), "utf8");

    const [copy = "", install = ""] = (await recipe("cp --recursive . /opt/spotwire")).trim().split("\n");
    runRecipe(copy, process.cwd());
    for (const ofTrial of [".env", ".data"]) rmSync(path.join(program, ofTrial), { recursive: true, force: true });
    expect(builtIn()).toBe(process.cwd());
    // Sources that changed since that build, or its pages would be taken over.
    appendFileSync(path.join(program, "app", "globals.css"), "\n/* changed */\n");
    runRecipe(install, program);
    expect(builtIn()).toBe(program);

    runRecipe(await recipe("install -d -m 0700 /etc/spotwire/credentials"), program);
    const [toUnits = ""] = (await recipe("systemctl daemon-reload")).trim().split("\n");
    runRecipe(toUnits, program);
    const unit = here(readFileSync(path.join(home, "etc/systemd/system/spotwire.service"), "utf8"));
    const credentials = readFileSync(path.join(home, "etc/systemd/system/spotwire.service.d/credentials.conf"), "utf8");
    expect(credentials).toContain("NEXTAUTH_SECRET_FILE=%d/NEXTAUTH_SECRET");
    const [folder, secret] = [here("/etc/spotwire/credentials"), here("/etc/spotwire/credentials/NEXTAUTH_SECRET")];
    expect([statSync(folder), statSync(secret)].map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600]);

    // What systemd would do: give the service the folder of its state, and a copy of its credentials.
    const state = here("/var/lib/spotwire");
    chmodSync(state, Number.parseInt(String(valuesOf(unit, "StateDirectoryMode")), 8));
    for (const own of [state, folder, secret]) chownSync(own, USER_ID, USER_ID);
    const settings = readFileSync(String(valuesOf(unit, "EnvironmentFile")).replace(/^-/, ""), "utf8");
    const assignments = [...valuesOf(unit, "Environment"), settings].join(" ").matchAll(/\b([A-Z_]+)=(\S+)/g);
    const set = Object.fromEntries([...assignments].map(([, name, value]) => [name, value]));
    expect(set).toMatchObject({ NODE_ENV: "production", PUBLIC_URL: "https://market.example.com", DATA_DIR: state });
    const env = { ...set, NODE_ENV: "production", NEXTAUTH_SECRET_FILE: secret, PORT: "0", HOST: "127.0.0.1" } as const;
    const cwd = String(valuesOf(unit, "WorkingDirectory"));
    const asService = (command: string) => [
      "-c",
      `umask ${valuesOf(unit, "UMask")} && exec ${AS_SERVICE} ${command.replace("/usr/bin/node", process.execPath)}`,
    ];

    const child = spawn("bash", asService(String(valuesOf(unit, "ExecStart"))), {
      cwd,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    const url = await addressOf(child, () => output);
    const headers = { authorization: `Bearer ${/\bsw_test_[0-9A-Za-z]{36}\b/.exec(output)?.[0]}` };
    for (const address of ["/api/health", "/", "/api/v1/market/quotes/latest?tickers=EURUSD"])
      expect((await fetch(url + address, { headers })).status, address).toBe(200);
    expect(readFileSync(`/proc/${child.pid}/status`, "utf8")).toMatch(/^Uid:\s+65534\s[\s\S]*^CapEff:\s+0+$/m);
    expect(statSync(path.join(state, "postgres")).uid).toBe(USER_ID);

    const beside = await recipe("systemd-run --pty");
    const given = [...beside.matchAll(/--setenv=([A-Z_]+)=/g)].map(([, name]) => name);
    expect(Object.keys(env)).toEqual(expect.arrayContaining(given));
    const command = /\/usr\/bin\/node .*/.exec(beside)?.[0] ?? "";
    const said = spawnSync("bash", asService(command), { cwd, env, encoding: "utf8" });
    expect(said.stdout + said.stderr).toContain("you@example.com");

    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  },
  INSTALL_TIMEOUT_MS + SERVER_TIMEOUT_MS,
);
