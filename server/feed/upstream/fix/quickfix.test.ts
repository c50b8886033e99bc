import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { cacheFolder } from "#lib/testing/cache-folder";
import { missing } from "#lib/testing/packages";
import { reservePort } from "#lib/testing/ports";
import { hasSharedData } from "#lib/testing/shared-data";
import { start, until } from "#server/testing/upstream-scene";
import { fixUpstream } from ".";
import { PROFILES } from "./profiles";

/** QuickFIX/C++ (Debian: libquickfix-dev) is code of other authors for the other end of the session. */
const ABSENT = missing("g++", "libquickfix-dev");
const SOURCE = path.resolve("server/testing/quickfix/acceptor.cpp");
const CACHE = cacheFolder("quickfix");
const DICTIONARY = path.resolve("../shared/data/upstreams/fix44/FIX44.xml");

/** It takes five seconds on an idle machine. */
const COMPILE_MAX_MS = 180_000;

/** The program, compiled once for each version of its source. */
function program(): string {
  const hash = createHash("sha256").update(readFileSync(SOURCE)).digest("hex").slice(0, 16);
  const file = path.join(CACHE, `quickfix-${hash}`);
  if (existsSync(file)) return file;
  mkdirSync(CACHE, { recursive: true });
  const draft = `${file}.${process.pid}`;
  execFileSync("g++", ["-std=c++11", "-w", "-O0", "-o", draft, SOURCE, "-lquickfix", "-lpthread"]);
  renameSync(draft, file);
  return file;
}

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** A venue of QuickFIX; `lines` is what it received. */
async function venue() {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-quickfix-"));
  const port = await reservePort();
  const settings = path.join(folder, "acceptor.cfg");
  const dictionary = hasSharedData ? ["UseDataDictionary=Y", `DataDictionary=${DICTIONARY}`] : ["UseDataDictionary=N"];
  const text = [
    "[DEFAULT]",
    "ConnectionType=acceptor",
    "StartTime=00:00:00",
    "EndTime=00:00:00",
    `SocketAcceptPort=${port}`,
    "[SESSION]",
    "BeginString=FIX.4.4",
    "SenderCompID=VENUE",
    "TargetCompID=SPOTWIRE",
    ...dictionary,
  ];
  writeFileSync(settings, text.join("\n"));
  const child = spawn(program(), [settings], { stdio: ["pipe", "pipe", "inherit"] });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  ended.push(async () => {
    const exit = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end("quit\n");
    await exit;
    rmSync(folder, { recursive: true });
  });
  await until(() => lines.includes("listening"));
  return { port, lines, order: (word: string) => child.stdin.write(`${word}\n`) };
}

function feed(port: number, password = "right") {
  const account = { sender: "SPOTWIRE", target: "VENUE", username: "u", password, profile: PROFILES.generic };
  // Its clock is that of the machine, because the venue refuses messages that are two minutes old.
  const run = start(fixUpstream({ host: "127.0.0.1", port, tls: false, ...account }), undefined, undefined, Date.now());
  ended.push(async () => {
    run.stop.abort();
    await run.ended;
  });
  return run;
}

describe.skipIf(ABSENT !== null)("a session with QuickFIX/C++", () => {
  beforeAll(() => void program(), COMPILE_MAX_MS);

  test("logon, snapshots, changes, a refused symbol, test requests, requests to send again and logout", async () => {
    const { port, lines, order } = await venue();
    const run = feed(port);
    await until(() => run.ticks.length === 101);
    expect(run.ticks[0]).toMatchObject({ ticker: "EURUSD", bid: 1.08543, ask: 1.08551 });
    expect(run.ticks.at(-1)).toMatchObject({ bid: 1.08699, ask: 1.08709 });
    expect(Math.abs((run.ticks[0]?.time_msc ?? 0) - Date.now())).toBeLessThan(30_000);
    expect(lines).toEqual(expect.arrayContaining(["logon", "request EUR/USD", "request XAU/USD"]));
    await until(() => run.lines.some(({ reason }) => reason === "refused_symbol"));
    order("test");
    await until(() => lines.includes("alive are you there"));
    order("resend");
    // It misses nothing, so it takes our answer for a duplicate and goes on.
    order("test");
    await until(() => lines.filter((line) => line === "alive are you there").length === 2);
    run.stop.abort();
    await run.ended;
    await until(() => lines.includes("logout"));
    expect(run.problems.filter((problem) => problem !== null)).toEqual([]);
  });

  test("a wrong password is refused, in words of the venue and without the password", async () => {
    const { port } = await venue();
    const run = feed(port, "wrong-a1b2c3");
    await until(() => run.problems.length === 1);
    expect(run.problems[0]).toMatch(/refuses the connection: .*FIX_PASSWORD/);
    expect(JSON.stringify([run.problems, run.lines])).not.toContain("wrong-a1b2c3");
  });
});
