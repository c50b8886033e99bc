import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { ImportFailure } from "./failure";

/** Files of a folder that are read; other files in it are not market data. */
const DATA_FILE = /\.(csv|tsv|txt|bi5|parquet|json|jsonl|ndjson|hst|zip|gz|tgz|tar)$/i;

/** The files named on the command line. A folder means all data files in and below it, sorted by path. */
export async function filesOf(named: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const name of named) {
    const info = await stat(name).catch(() => null);
    if (info === null) throw new ImportFailure(`${name}: no such file`);
    if (!info.isDirectory()) {
      files.push(name);
      continue;
    }
    const found = await readdir(name, { recursive: true, withFileTypes: true });
    const paths = found
      .filter((entry) => entry.isFile() && DATA_FILE.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name));
    if (paths.length === 0)
      throw new ImportFailure(`${name}: no .csv, .tsv, .txt, .bi5, .parquet, .json, .hst, .zip, .gz or .tar file in this folder`);
    files.push(...paths.sort());
  }
  return [...new Set(files)];
}
