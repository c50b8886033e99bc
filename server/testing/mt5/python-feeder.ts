import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { MINUTE_MS } from "#lib/units";
import { marketFiles, type ServerOffset, type TerminalMarket, zoneOf } from "./market";

const FEEDER = path.join(process.cwd(), "server", "feeders", "mt5", "spotwire_feeder.py");
const FAKE = path.join(process.cwd(), "server", "testing", "mt5");
const RUN_MAX_MS = 50_000;

/** Whether Python 3.10 or later is there: the terminal that is not real needs it. */
export const hasPython = (): boolean =>
  spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).status === 0;

interface FeederOptions {
  readonly market: TerminalMarket;
  readonly offset: ServerOffset;
  readonly key: string;
  /** Options of its command line. */
  readonly args: readonly string[];
}

/** The Python feeder with a terminal that is not real. */
interface PythonFeeder {
  /** Runs it between two instants (Unix ms) of its virtual time; returns what it said. */
  run(life: { readonly startMs: number; readonly endMs: number; readonly clockErrorS?: number }): Promise<string>;
  /** What it keeps from life to life. */
  marks(): unknown;
  close(): void;
}

/** Makes a feeder; close it in the end. */
export function openPythonFeeder({ market, offset, key, args }: FeederOptions): PythonFeeder {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-mt5-python-"));
  const file = (name: string) => path.join(folder, name);
  const { ticks, bars } = marketFiles(market, offset);
  writeFileSync(file("ticks"), ticks);
  writeFileSync(file("bars"), bars);
  return {
    async run({ startMs, endMs, clockErrorS = 0 }) {
      const zone = zoneOf(offset, startMs - MINUTE_MS, endMs);
      const settings = { ticks: file("ticks"), bars: file("bars"), zone, start: startMs, end: endMs, clockError: clockErrorS };
      const env = { ...process.env, PYTHONPATH: FAKE, PYTHONDONTWRITEBYTECODE: "1", SPOTWIRE_KEY: key };
      const given = { env: { ...env, FAKE_TERMINAL: JSON.stringify(settings) }, timeout: RUN_MAX_MS };
      const all = [FEEDER, ...args, "--marks", file("marks")];
      const { stdout, stderr } = await promisify(execFile)("python3", all, given).catch((error) => {
        // It refused its options.
        if (error.code === 2) return error as { stdout: string; stderr: string };
        throw error;
      });
      return stdout + stderr;
    },
    marks: () => (existsSync(file("marks")) ? JSON.parse(readFileSync(file("marks"), "utf8")) : null),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
