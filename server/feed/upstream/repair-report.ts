import type { Clock } from "#lib/clock";
import { audit, SYSTEM } from "#server/store/access/audit";
import type { Database } from "#server/store/database/db";
import { type BackfillProgress, beginBackfill, noteBackfill } from "#server/store/market/backfills";
import type { RepairReport } from "./mend-span";

const BEGUN: BackfillProgress = {
  state: "running",
  files: 1,
  filesDone: 0,
  filesFailed: 0,
  file: "",
  step: "",
  share: 0,
  rows: 0,
  readMs: 0,
  problem: null,
  doubts: [],
};

/** Makes the report of one repair: an import on the operators' page, and at its end one entry of the audit log. */
export function reportRepair(db: Pick<Database, "prisma">, clock: Clock, upstream: string): RepairReport {
  const context = { db, clock };
  const begunMs = clock.now();
  let progress = BEGUN;
  let tickersCount = 1;
  let import_: { readonly id: string; readonly number: number } | undefined;

  async function note(change: Partial<BackfillProgress>): Promise<void> {
    progress = { ...progress, ...change, readMs: clock.now() - begunMs };
    if (import_ !== undefined) await noteBackfill(context, import_.id, progress);
  }

  return {
    async begin(label, tickers) {
      tickersCount = Math.max(1, tickers);
      progress = { ...progress, file: label };
      import_ = await beginBackfill(context, "live", progress);
      return import_.number;
    },
    note: (done, ticker, minutes) => note({ step: ticker, share: done / tickersCount, rows: minutes }),
    async end(problem, tickers) {
      const state = problem === null ? "done" : "failed";
      await note({ state, problem, step: "", filesDone: 1, ...(problem === null && { share: 1 }) });
      const after = { state, number: import_?.number, minutes: progress.rows, tickers };
      const system = { ...SYSTEM, accountId: null };
      await audit(db.prisma, { ...system, action: "history.repair", target: upstream, after });
    },
  };
}
