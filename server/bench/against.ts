import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "#lib/testing/cache-folder";
import { UsageError } from "#server/cli/usage-error";
import { rounded, spreadOf, spreadText } from "./spread";
import { markdownTable, type Row } from "./table";

/** Another commit, beside which this checkout is measured. */
interface Built {
  /** Its hash. */
  readonly commit: string;
  /** Where it is checked out and built. */
  readonly folder: string;
}

const CACHE = cacheFolder("against");
/** Written once all is built. */
const MARK = ".next/spotwire-bench";
const HASH_CHARACTERS = 12;
const run = promisify(execFile);

/** The hash of a commit of this repository. @throws UsageError when git knows none of this name */
export async function commitOf(ref: string): Promise<string> {
  try {
    const { stdout } = await run("git", ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]);
    return stdout.trim();
  } catch {
    throw new UsageError(`--against ${ref}: git knows no such commit here. Name a commit, a branch or a tag.`);
  }
}

/**
 * Checks out a commit and builds it with its own scripts, in a folder that is kept until another commit is requested.
 * @throws Error with npm's output when it cannot be built
 */
export async function buildAt(commit: string): Promise<Built> {
  const name = commit.slice(0, HASH_CHARACTERS);
  const folder = path.join(CACHE, name);
  if (existsSync(path.join(folder, MARK))) return { commit: name, folder };
  await mkdir(CACHE, { recursive: true });
  for (const entry of await readdir(CACHE)) await rm(path.join(CACHE, entry), { recursive: true, force: true });
  await run("git", ["clone", "--quiet", "--no-checkout", ".", folder]);
  await run("git", ["checkout", "--quiet", commit], { cwd: folder });
  for (const args of [
    ["ci", "--no-audit", "--no-fund", "--prefer-offline"],
    ["run", "--silent", "prebench"],
  ])
    await run("npm", args, { cwd: folder, maxBuffer: Number.POSITIVE_INFINITY });
  await writeFile(path.join(folder, MARK), "");
  return { commit: name, folder };
}

/** What each of the two measured, in the same order. */
interface BothRuns {
  readonly here: readonly (readonly Row[])[];
  readonly there: readonly (readonly Row[])[];
}

/** Each case that both measured, as a Markdown table: the figures of both, and their ratios in the same round. */
export function againstText({ here, there }: BothRuns, commit: string): string {
  const figuresOf = (runs: BothRuns["here"], id: string) => runs.flatMap((rows) => rows.filter((row) => row.id === id));
  const lines = (here[0] ?? []).flatMap(({ id, what, against, bound }) => {
    const [owns, others] = [figuresOf(here, id), figuresOf(there, id)];
    if (owns.length === 0 || owns.length !== others.length) return [];
    const ratios = (of: (row: Row) => number) =>
      spreadText(spreadOf(owns.map((own, round) => of(own) / of(others[round] as Row))));
    const median = (rows: readonly Row[]) => rounded(spreadOf(rows.map(({ own }) => own)).median);
    const better = bound === "at most" ? "less" : "more";
    return [
      [
        what,
        median(owns),
        median(others),
        ratios(({ own }) => own),
        `${ratios(({ ratio }) => ratio.median)}, ${against}`,
        better,
      ],
    ];
  });
  return markdownTable(["case", "here", commit, "here to it", "the same, each beside its rival", "better"], lines);
}
