import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeMinutes } from "./history";
import { measureServed } from "./history-memory";
import { measureReads } from "./history-reads";
import { measureWrites } from "./history-writes";
import type { Effort } from "./load";
import { joined, type Row, tableText } from "./table";

/** More than nine years of minutes. */
const SERVED_ROWS_COUNT = 5_000_000;

/** Shows the rows of a part at once, because a later part can fail. */
function show(rows: readonly Row[]): void {
  const [major = ""] = process.versions.node.split(".");
  process.stderr.write(tableText(joined({ [major]: rows })));
}

/**
 * Stored history from end to end: bytes, imports, undo, reads and the memory of all that. It decides what an installation with years of
 * history needs, and takes five minutes.
 */
export async function benchHistory({ rounds }: Effort): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const [dataDir, file] = [path.join(folder, "served"), path.join(folder, "served.csv")];
  try {
    const writes = await measureWrites(folder, rounds);
    show(writes);
    await writeMinutes(file, SERVED_ROWS_COUNT);
    const served = await measureServed(dataDir, file, SERVED_ROWS_COUNT, rounds);
    show(served);
    return [...writes, ...served, ...(await measureReads(dataDir, folder, SERVED_ROWS_COUNT, rounds))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
