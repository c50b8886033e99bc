import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "#lib/testing/cache-folder";
import { MINUTE_MS } from "#lib/units";
import { marketFiles, type ServerOffset, type TerminalMarket, zoneOf } from "./market";
import { toProgram } from "./rewrite";

const SOURCE = path.join(process.cwd(), "server", "feeders", "mt5", "Spotwire.mq5");
const SHIM = path.join(process.cwd(), "server", "testing", "mt5");
/** Where compiled programs stay from run to run. */
const CACHE = cacheFolder("mt5");
const RUN_MAX_MS = 180_000;

/** Errors that others made, each as a replacement in the source; the tests must find them out. */
const BREAKS = {
  from_next: ["(ulong)feeds[f].mark,", "(ulong)(feeds[f].mark + 1),"],
  unconverted: ["long utcMs = time - (long)offsetS * 1000;", "long utcMs = time;"],
  forgetful: [
    "  if(status == 413 && batchTicks > 1)",
    "  if(status != 200)\n    Advance();\n  if(status == 413 && batchTicks > 1)",
  ],
} as const satisfies Record<string, readonly [right: string, wrong: string]>;

/** A version of the Expert Advisor: as it is served, or broken on purpose. */
export type AdvisorVersion = "whole" | keyof typeof BREAKS;

/** Compiles all versions into one program, once for the same sources; returns its path. */
export async function compileAdvisor(): Promise<string> {
  const source = readFileSync(SOURCE, "utf8");
  const broken = Object.entries(BREAKS).map(([name, [right, wrong]]) => {
    if (!source.includes(right)) throw new Error(`The Expert Advisor no longer contains: ${right}`);
    return [name, source.replace(right, wrong)];
  });
  const program = toProgram({ whole: source, ...Object.fromEntries(broken) });
  const parts = [program, ...["mql5.h", "terminal.cpp"].map((file) => readFileSync(path.join(SHIM, file), "utf8"))];
  const name = createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 16);
  const compiled = path.join(CACHE, name);
  if (existsSync(compiled)) return compiled;
  rmSync(CACHE, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${compiled}.cpp`, program);
  const flags = ["-std=c++17", "-O0", "-Wall", "-Werror", `-I${SHIM}`];
  await promisify(execFile)("g++", [...flags, "-o", `${compiled}.new`, `${compiled}.cpp`]);
  // Two test runs may compile at once.
  renameSync(`${compiled}.new`, compiled);
  return compiled;
}

/** How one life of the Expert Advisor goes. Instants are Unix milliseconds, UTC. */
interface AdvisorLife {
  readonly startMs: number;
  readonly endMs: number;
  /** True where the terminal is killed at the end. */
  readonly killed?: boolean;
  /** In the strategy tester. */
  readonly inTester?: boolean;
  /** The address of the service is not allowed in the terminal. */
  readonly disallowed?: boolean;
  /** How far the clock of the computer is ahead. */
  readonly clockErrorS?: number;
}

/** A terminal: its market, its settings, and what it keeps from life to life. */
interface AdvisorTerminal {
  /** Runs the Expert Advisor; returns its journal, one line each, alerts marked. */
  run(life: AdvisorLife): Promise<string[]>;
  close(): void;
}

interface TerminalOptions {
  readonly program: string;
  readonly version?: AdvisorVersion;
  readonly market: TerminalMarket;
  readonly offset: ServerOffset;
  readonly inputs: Readonly<Record<string, string | number>>;
}

/** Makes a terminal; close it in the end. */
export function openTerminal({ program, version = "whole", market, offset, inputs }: TerminalOptions): AdvisorTerminal {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-mt5-"));
  const file = (name: string) => path.join(folder, name);
  const { ticks, bars } = marketFiles(market, offset);
  writeFileSync(file("ticks"), ticks);
  writeFileSync(file("bars"), bars);
  writeFileSync(file("globals"), "");
  const given = Object.entries(inputs).map(([name, value]) => `input.${name}=${value}`);
  return {
    async run({ startMs, endMs, killed, inTester, disallowed, clockErrorS = 0 }) {
      const files = ["ticks", "bars", "globals"].map((name) => `${name}=${file(name)}`);
      const zone = zoneOf(offset, startMs - MINUTE_MS, endMs);
      const times = [
        `start=${startMs}`,
        `end=${endMs}`,
        `zone=${zone.map((part) => part.join(":")).join(";")}`,
        `gmt=${clockErrorS}`,
      ];
      const flags = [killed && "crash=1", inTester && "tester=1", disallowed && "disallowed=1"].filter(
        (flag) => typeof flag === "string",
      );
      const all = [`advisor=${version}`, ...files, ...times, ...flags, ...given];
      const { stdout } = await promisify(execFile)(program, all, { timeout: RUN_MAX_MS }).catch((error) => {
        // It refused its inputs.
        if (error.code === 3) return error as { stdout: string };
        throw error;
      });
      return stdout
        .trim()
        .split("\n")
        .map((line) => line.replace(/^\d+ (?:print|(alert)) /, (_, alert) => (alert ? "ALERT " : "")));
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
