import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import { MINUTE_S } from "#lib/units";
import { askWith } from "./cold";
import { ADD_MINUTES, HISTORY_FROM_S, ROWS_TABLE } from "./history";
import { readHours, readPages, withClient } from "./history-reads";
import { IMPORT_MINUTES, runImport, seconds } from "./import";
import { AFTER_MAX_RATIO } from "./memory";
import { type Spotwire, startSpotwire } from "./product";
import { rounded } from "./spread";
import { comparedOf, limited, type Row, row } from "./table";

const UNDO_MAX_S = 2;
/** Of the time that a table of rows takes to delete them. */
const UNDO_MAX_RATIO = 0.1;
/** By then a process has collected the garbage of its start. */
const SETTLE_MS = 90_000;
const AFTER_MS = 60_000;
const LOOK_INTERVAL_MS = 250;
const READS_COUNT = 8;
const MIB = 1_048_576;
const ADDED_MAX_MIB = 150;

/** Memory of the process that runs the market, and of all processes, MiB. */
interface Taken {
  readonly main: number;
  readonly family: number;
}

const takenBy = (server: Spotwire): Taken => ({ main: server.bytes() / MIB, family: server.familyBytes() / MIB });

/** Runs `work`. @returns the peak memory while it ran */
async function peakDuring(server: Spotwire, work: () => Promise<void>): Promise<Taken> {
  const ended = new AbortController();
  let peak = takenBy(server);
  async function watch(): Promise<void> {
    while (!ended.signal.aborted) {
      const { main, family } = takenBy(server);
      peak = { main: Math.max(main, peak.main), family: Math.max(family, peak.family) };
      await setTimeout(LOOK_INTERVAL_MS);
    }
  }
  const watching = watch();
  await work().finally(() => ended.abort());
  await watching;
  return peak;
}

/** Seconds that a table of rows takes to delete as many as were imported. */
function deleteRows(server: Spotwire, rows: number): Promise<number> {
  return withClient(server, async (client) => {
    await client.query(ROWS_TABLE);
    await client.query(ADD_MINUTES, ["XAUUSD", HISTORY_FROM_S, HISTORY_FROM_S + (rows - 1) * MINUTE_S]);
    await client.query("VACUUM ANALYZE bench_kline");
    const deleted = await seconds(() => client.query("DELETE FROM bench_kline WHERE ticker = 'XAUUSD' AND timeframe = 'M1'"));
    await client.query("DROP TABLE bench_kline");
    return deleted;
  });
}

/** Rows about the memory of one part of the service. */
function memoryRows(part: keyof Taken, name: string, idle: Taken, peak: Taken, after: Taken): Row[] {
  const id = `history-memory-${part}`;
  const most = `memory of ${name}, most during import, undo, redo and long reads, MiB`;
  const left = `memory of ${name}, ${AFTER_MS / 1_000} s after that, MiB`;
  const peaks = comparedOf([peak[part]], [idle[part] + ADDED_MAX_MIB]);
  return [
    row(`${id}-peak`, most, `idle and ${ADDED_MAX_MIB} MiB`, "at most", 1, peaks),
    row(`${id}-after`, left, "idle", "at most", AFTER_MAX_RATIO, comparedOf([after[part]], [idle[part]])),
  ];
}

/** What a running service takes while a file is imported into it, undone, put back and read. The import stays. */
export async function measureServed(dataDir: string, file: string, rows: number, rounds: number): Promise<Row[]> {
  const server = await startSpotwire({ DATA_DIR: dataDir });
  const agent = new Agent({ keepAlive: true });
  const [undo, redo]: [number[], number[]] = [[], []];
  const command = (...args: readonly string[]) => runImport({ DATA_DIR: dataDir }, ...args);
  try {
    await setTimeout(SETTLE_MS);
    const idle = takenBy(server);
    const peak = await peakDuring(server, async () => {
      await command(...IMPORT_MINUTES, file);
      for (let round = 0; round < rounds; round += 1) {
        undo.push(await seconds(() => command("undo", "1")));
        redo.push(await seconds(() => command("redo", "1")));
      }
      const ask = askWith(server, agent);
      await readHours(ask, READS_COUNT);
      await readPages(ask);
    });
    await setTimeout(AFTER_MS);
    const after = takenBy(server);
    const deleted = await deleteRows(server, rows);
    const imported = `of an import of ${rounded(rows)} M1 rows, the whole command`;
    const deletions = undo.map(() => deleted);
    const beside = "`DELETE` of the rows in PostgreSQL";
    return [
      limited("history-undo", `undo ${imported}`, "s", undo, UNDO_MAX_S),
      row("history-undo-rows", `undo ${imported}, s`, beside, "at most", UNDO_MAX_RATIO, comparedOf(undo, deletions)),
      limited("history-redo", `redo ${imported}`, "s", redo, UNDO_MAX_S),
      ...memoryRows("main", "the process of the market", idle, peak, after),
      ...memoryRows("family", "all processes with PostgreSQL", idle, peak, after),
    ];
  } finally {
    agent.destroy();
    await server.stop();
  }
}
