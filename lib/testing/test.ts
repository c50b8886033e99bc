import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { MINUTE_MS } from "#lib/units";
import { LEFT_OUT, QUICK_LANES, SLOW_COMMANDS, SLOW_LANE, SLOW_TAG, SLOW_TESTS, touchedBy } from "../../vitest.config";
import { installNewestWebsockets, installPackages } from "./install-packages";
import { ALL_PACKAGES, QUICK_PACKAGES } from "./packages";
import { SEED } from "./seed";
import { installTools } from "./tools";
import { closingLine, type Failure, RESULTS_FILE, type Results } from "./total-reporter";

/**
 * `npm test` runs the quick tests, `npm run test:all` also the slow ones, with `-- --changed [REF]` those of the folders that differ from
 * REF or from the last commit. First it installs what the tests run. Files that failed are run once more, each alone: what passes then is
 * printed as unsteady. The exit code is 0 when every test passed in the end and few were unsteady.
 */

const RESULTS_FOLDER = "test-results";
/** More than this is no chance: nothing is run again. */
const FAILED_FILES_MAX_COUNT = 5;
const UNSTEADY_MAX_COUNT = 3;

const say = (line: string) => process.stdout.write(`${line}\n`);

const {
  values: { all, changed },
  positionals: [ref = "HEAD"],
} = parseArgs({
  options: { all: { type: "boolean", default: false }, changed: { type: "boolean", default: false } },
  allowPositionals: true,
});

/** The files of the working tree that differ from a commit, and those that git does not know yet. */
function changedFiles(since: string): string[] {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).split("\n").filter(Boolean);
  return [...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")];
}

/** Runs vitest to its end. */
function run(args: readonly string[], seed: number): Results {
  const file = path.resolve(RESULTS_FOLDER, "results.json");
  rmSync(file, { force: true });
  const vitest = path.join("node_modules", "vitest", "vitest.mjs");
  const env = { ...process.env, [RESULTS_FILE]: file, [SEED]: String(seed) };
  const { status } = spawnSync(process.execPath, [vitest, "run", ...args], { stdio: "inherit", env });
  let results: Results;
  try {
    results = JSON.parse(readFileSync(file, "utf8")) as Results;
  } catch {
    // It ended before its first test: the shared set-up does not start, or it was killed.
    return { passed: 0, passedIn: {}, skipped: 0, failures: [], strayErrors: 1 };
  }
  const failed = results.failures.length + results.strayErrors;
  return status === 0 || failed > 0 ? results : { ...results, strayErrors: 1 };
}

const nameOf = ({ file, title }: Failure) => `${file}${title === "" ? "" : ` > ${title}`}`;

mkdirSync(RESULTS_FOLDER, { recursive: true });
const touched = changed ? changedFiles(ref) : undefined;
const slow = all ? touchedBy(touched, SLOW_TESTS) : [];
const commands = all ? touchedBy(touched, SLOW_COMMANDS) : [];
const lacking = installPackages(slow.length > 0 ? ALL_PACKAGES : QUICK_PACKAGES);
if (slow.length > 0) installNewestWebsockets();
for (const list of ["check", "tests", "prisma", ...(slow.length > 0 ? ["bench"] : [])]) await installTools(list);
// The hooks of these files open a browser, and would fail.
const browsing = lacking.some(({ name }) => name === "chromium-headless-shell")
  ? readdirSync("e2e", { encoding: "utf8", recursive: true })
      .map((file) => `e2e/${file}`)
      .filter((file) => file.endsWith(".spec.ts") && /from "\.\.?\/browser"/.test(readFileSync(file, "utf8")))
  : [];
process.env[LEFT_OUT] = browsing.join(",");
const skippedFor = [
  ...lacking.map(({ name, why }) => `  ${name}: ${why}`),
  ...(browsing.length > 0 ? [`  Left out for want of a browser: ${browsing.join(", ")}`] : []),
].join("\n");
if (lacking.length > 0) say(`Tests that run these are skipped:\n${skippedFor}`);

const seed = Number(process.env[SEED] ?? (all ? Math.floor(Math.random() * 2 ** 31) : 1));
if (all) say(`Seed of the properties: ${seed}. To repeat it: ${SEED}=${seed} npx vitest run FILE`);
const startMs = Date.now();
const ofSuite = all ? [] : ["--tags-filter", `!${SLOW_TAG}`];
const quick = run([...QUICK_LANES.flatMap((lane) => ["--project", lane]), ...ofSuite], seed);
const rest = slow.length > 0 ? run(["--project", SLOW_LANE, ...slow], seed) : undefined;
const runs = [quick, rest].filter((one) => one !== undefined);
const failures = runs.flatMap((one) => one.failures);
let strayErrors = runs.reduce((sum, one) => sum + one.strayErrors, 0);
let passed = runs.reduce((sum, one) => sum + one.passed, 0);
const skipped = runs.reduce((sum, one) => sum + one.skipped, 0);

const files = [...new Set(failures.map(({ file }) => file))];
let failed = failures.length;
const unsteady: Failure[] = [];
if (files.length <= FAILED_FILES_MAX_COUNT)
  for (const file of files) {
    say(`\nOnce more, alone: ${file}`);
    const again = run([file, "--maxWorkers=1", ...ofSuite], seed);
    const still = new Set(again.failures.map(nameOf));
    const before = failures.filter((one) => one.file === file);
    const recovered = again.strayErrors > 0 ? [] : before.filter((one) => !still.has(nameOf(one)));
    unsteady.push(...recovered);
    failed += again.failures.length - before.length;
    passed += again.passed - runs.reduce((sum, { passedIn }) => sum + (passedIn[file] ?? 0), 0);
    strayErrors += again.strayErrors;
  }
for (const command of commands) {
  say(`\nnpm run ${command}`);
  const { status } = spawnSync("npm", ["run", "--silent", command], { stdio: "inherit", shell: process.platform === "win32" });
  if (status === 0) passed += 1;
  else failed += 1;
}
writeFileSync(path.join(RESULTS_FOLDER, "unsteady.txt"), unsteady.map((one) => `${nameOf(one)}\n`).join(""));
for (const one of unsteady) say(`UNSTEADY ${nameOf(one)}`);
if (unsteady.length > 0) say(`${unsteady.length} unsteady; more than ${UNSTEADY_MAX_COUNT} fail the run.`);
if (lacking.length > 0) say(`Tests that run these were skipped:\n${skippedFor}`);
const isIncomplete = process.env.CI === "true" && lacking.some(({ name }) => QUICK_PACKAGES.includes(name));
if (isIncomplete) say("CI=true: what the tests of npm test run must be there.");
say(`Tests took ${((Date.now() - startMs) / MINUTE_MS).toFixed(1)} min.`);
const isRed = failed + strayErrors > 0 || unsteady.length > UNSTEADY_MAX_COUNT || isIncomplete;
process.stdout.write(`\n${closingLine(passed, failed + strayErrors, skipped)}`);
process.exitCode = isRed ? 1 : 0;
