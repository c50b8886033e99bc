import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startSpotwire } from "./quotes";
import type { Row } from "./table";

/**
 * Fetched when the bench runs: as a dependency it would add some 200 packages to every installation. The last version that runs
 * on Node 20.
 */
const LIGHTHOUSE = "lighthouse@12.8.2";
const TARGET_SCORE = 95;
const RUNS_COUNT = 3;
const RUN_TIMEOUT_MS = 180_000;
const REPORT_MAX_BYTES = 64 * 1_048_576;
const PAGES = ["/", "/docs", "/markets", "/markets/XAUUSD", "/playground", "/status"];
const FORMS = [
  { name: "phone", options: [] },
  { name: "desktop", options: ["--preset=desktop"] },
];
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;

interface Report {
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<
    Record<string, { readonly score: number | null; readonly title: string; readonly scoreDisplayMode: string }>
  >;
}

const run = promisify(execFile);

/** One visit by Lighthouse with a Chromium that it finds on the machine, or that CHROME_PATH names. */
async function audit(url: string, options: readonly string[]): Promise<Report> {
  const args = [
    ...["--yes", LIGHTHOUSE, url, "--output=json", "--quiet", `--only-categories=${CATEGORIES.join(",")}`],
    ...["--chrome-flags=--headless=new --no-sandbox --disable-gpu", ...options],
  ];
  const { stdout } = await run("npx", args, { timeout: RUN_TIMEOUT_MS, maxBuffer: REPORT_MAX_BYTES });
  return JSON.parse(stdout) as Report;
}

const scoreOf = ({ categories }: Report, name: string) => Math.round((categories[name]?.score ?? 0) * 100);

/** The titles of the audits without full marks that keep a category other than performance from 100. */
function failedAudits({ audits }: Report): string[] {
  return Object.values(audits).flatMap(({ score, title, scoreDisplayMode }) =>
    scoreDisplayMode === "binary" && score !== null && score < 1 ? [title] : [],
  );
}

/** Measures the scores of the public pages with Lighthouse's own throttling; of each page the visit with the median performance. */
export async function benchLighthouse(): Promise<Row[]> {
  const server = await startSpotwire("counted", { PORTAL: "on" });
  try {
    const rows: Row[] = [];
    for (const page of PAGES)
      for (const { name, options } of FORMS) {
        const what = `lighthouse: ${page}, ${name}`;
        const reports: Report[] = [];
        let failure = "";
        for (let visit = 0; visit < RUNS_COUNT; visit += 1)
          try {
            reports.push(await audit(server.url + page, options));
          } catch (error) {
            // Now and then a trace can't be recorded; the other visits still count.
            failure = String(error).trim().split("\n").at(-1) ?? "";
          }
        const [median] = reports
          .sort((a, b) => scoreOf(a, "performance") - scoreOf(b, "performance"))
          .slice(Math.floor(reports.length / 2));
        if (median === undefined) {
          rows.push({ what, value: `failed: ${failure}` });
          continue;
        }
        const scores = CATEGORIES.map((category) => scoreOf(median, category));
        const failed = failedAudits(median);
        const value = `${CATEGORIES.map((category, index) => `${category} ${scores[index]}`).join(", ")}${failed.length > 0 ? ` (${failed.join("; ")})` : ""}`;
        rows.push({
          what,
          value,
          ratio: { value: Math.min(...scores), target: TARGET_SCORE, against: "the lowest of 100" },
        });
      }
    return rows;
  } finally {
    await server.stop();
  }
}
