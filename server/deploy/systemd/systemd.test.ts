import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SECRET_SETTINGS } from "#lib/env-feeds";
import { missing } from "#lib/testing/packages";
import { DRAIN_MAX_MS } from "#server/ops/shutdown";

const ROOT = path.join(import.meta.dirname, "..", "..", "..");
const UNIT = path.join(import.meta.dirname, "spotwire.service");
/** systemd-analyze says 0 to 10; what is rated below 2 it calls OK, and a service without any hardening has 9.6. */
const EXPOSURE_MAX = 2;

const unit = readFileSync(UNIT, "utf8");
const credentials = readFileSync(path.join(import.meta.dirname, "credentials.conf"), "utf8");
/** The values of a key, in order. */
const valuesOf = (text: string, key: string) =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
const variables = (text: string) =>
  valuesOf(text, "Environment").flatMap((line) => line.split(" ").map((pair) => pair.split("=")));

describe("the unit of systemd", () => {
  test("a stop has time to drain, and only the main process gets the signal", () => {
    expect(Number(valuesOf(unit, "TimeoutStopSec")) * 1000).toBeGreaterThan(DRAIN_MAX_MS);
    expect(valuesOf(unit, "KillMode")).toEqual(["mixed"]);
  });

  test("it runs the command of `npm start`, and is not started again where that is in vain", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { scripts: { start: string } };
    const [command = ""] = valuesOf(unit, "ExecStart");
    expect(scripts.start.endsWith(command.replace("/usr/bin/", ""))).toBe(true);
    const main = readFileSync(path.join(ROOT, "server", "main.ts"), "utf8");
    expect(main).toContain(`const IN_VAIN = ${valuesOf(unit, "RestartPreventExitStatus")};`);
  });

  test("it sets the variables of `npm start`, and keeps its data where it may write", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { scripts: { start: string } };
    const { DATA_DIR, ...others } = Object.fromEntries(variables(unit)) as Record<string, string>;
    expect(scripts.start).toContain(
      ` ${Object.entries(others)
        .map((pair) => pair.join("="))
        .sort()
        .join(" ")} `,
    );
    expect(DATA_DIR).toBe(`/var/lib/${valuesOf(unit, "StateDirectory")}`);
    expect(valuesOf(unit, "ProtectSystem")).toEqual(["strict"]);
  });

  test("credentials are secrets that can be read from files", () => {
    const loaded = valuesOf(credentials, "LoadCredential").map((line) => line.split(":")[0]);
    expect(loaded.filter((name) => !SECRET_SETTINGS.some((known) => known === name))).toEqual([]);
    expect(variables(credentials)).toEqual(loaded.map((name) => [`${name}_FILE`, `%d/${name}`]));
  });
});

describe("systemd-analyze", () => {
  const scratch = mkdtempSync(path.join(tmpdir(), "spotwire-systemd-"));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  const analyze = (...args: string[]) => spawnSync("systemd-analyze", ["--no-pager", ...args], { encoding: "utf8" });
  const absent = missing("systemd");

  test(`the exposure of the unit is below ${EXPOSURE_MAX}`, ({ skip }) => {
    skip(absent !== null, absent ?? "");
    const rate = (file: string) => {
      const { stdout, stderr } = analyze("security", "--offline=true", file);
      return Number(/Overall exposure level for .*: ([\d.]+)/.exec(stdout)?.[1] ?? stderr);
    };
    expect(rate(UNIT)).toBeLessThan(EXPOSURE_MAX);
    const bare = path.join(scratch, "spotwire.service");
    writeFileSync(bare, "[Service]\nExecStart=/bin/true\n");
    expect(rate(bare)).toBeGreaterThan(9);
  });

  test("the unit, with its credentials, has no key that systemd does not know", ({ skip }) => {
    skip(absent !== null, absent ?? "");
    const verify = (text: string) => {
      const file = path.join(scratch, "spotwire.service");
      // Node is elsewhere on this machine.
      writeFileSync(file, text.replace("ExecStart=/usr/bin/node", "ExecStart=/bin/true"));
      return analyze("verify", "--man=no", file).stderr;
    };
    const both = `${unit}\n${credentials}`;
    expect(verify(both)).not.toMatch(/Unknown key|Failed to parse|ignoring/);
    expect(verify(both.replace("ProtectClock=yes", "ProtectClocks=yes"))).toMatch(/Unknown key/);
    expect(verify(both.replace("UMask=0077", "UMask=rwx"))).toMatch(/Failed to parse|ignoring/);
  });
});
