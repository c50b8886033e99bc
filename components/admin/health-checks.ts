import type { HealthReport, NodeHealth } from "#lib/contract/portal-health";
import { durationText } from "#lib/duration";
import { DAY_MS, HOUR_MS, SECOND_MS } from "#lib/units";
import { sizeText } from "../portal/numbers";
import type { Tone } from "../ui/badge";

/** Below this share of free space the disk is shown as a problem. */
const LOW_DISK_SHARE = 0.1;

/** One line of the list of checks. */
interface Check {
  readonly name: string;
  readonly tone: Extract<Tone, "positive" | "warning" | "danger">;
  /** What is wrong. */
  readonly problems: readonly string[];
}

const checkOf = (name: string, problems: readonly string[], tone: Check["tone"] = "danger"): Check => {
  return { name, tone: problems.length === 0 ? "positive" : tone, problems };
};

/** How long ago in words, as "9 days", "3 hours" or "4 min 10 s". */
export function agoText(ms: number): string {
  const count = (of: number, unit: string) => `${of} ${unit}${of === 1 ? "" : "s"}`;
  if (ms >= 2 * DAY_MS) return count(Math.floor(ms / DAY_MS), "day");
  return ms >= HOUR_MS ? count(Math.floor(ms / HOUR_MS), "hour") : durationText(ms);
}

/** What is wrong with the backups. */
function backupProblems({ at_ms, backups }: HealthReport): string[] {
  const { last, failed, max_age_s } = backups;
  const age = (iso: string) => at_ms - Date.parse(iso);
  const problems: string[] = [];
  if (failed !== null) problems.push(`Backup failed ${agoText(age(failed.ended_at))} ago: ${failed.problem}`);
  if (max_age_s === 0) return problems;
  if (last === null) problems.push("No backup yet.");
  else if (age(last.ended_at) > max_age_s * SECOND_MS) problems.push(`Last backup ${agoText(age(last.ended_at))} ago.`);
  return problems;
}

/** Whether a node, its parts and its disk are well: what is wrong, by name of the check. A disk is low long before its check fails. */
export function problemsOf({ checks, disk }: NodeHealth): Readonly<Record<string, string | null>> {
  const low = disk !== null && disk.free_bytes < disk.bytes * LOW_DISK_SHARE;
  return { ...checks, disk: checks.disk ?? (low ? `only ${sizeText(disk.free_bytes)} free` : null) };
}

/** The checks of all nodes by name, then whether all nodes report, and the backups. Of several nodes, a problem names its own. */
export function checksOf(report: HealthReport): Check[] {
  const { nodes } = report;
  const reporting = nodes.filter(({ silent }) => !silent);
  const found = new Map<string, string[]>();
  for (const node of reporting)
    for (const [name, problem] of Object.entries(problemsOf(node))) {
      const sentence = nodes.length > 1 ? `${node.name}: ${problem}` : problem;
      found.set(name, [...(found.get(name) ?? []), ...(problem === null ? [] : [sentence ?? ""])]);
    }
  const silent = nodes
    .filter((node) => node.silent)
    .map(({ name, age_ms }) => `${name} has not reported for ${durationText(age_ms, 1)}.`);
  const none = reporting.length === 0 ? ["No node reports."] : [];
  return [
    ...[...found].map(([name, problems]) => checkOf(name.replaceAll("_", " "), problems)),
    checkOf("nodes", [...none, ...silent]),
    checkOf("backup", backupProblems(report), "warning"),
  ];
}

/** All checks in one sentence. */
export function summaryOf(checks: readonly Check[]): string {
  const count = (tone: Tone) => checks.filter((check) => check.tone === tone).length;
  const [failing, warnings] = [count("danger"), count("warning")];
  const works = failing === 0 ? "Everything works." : failing === 1 ? "One check fails." : `${failing} checks fail.`;
  return warnings === 0 ? works : `${works} ${warnings === 1 ? "One warning." : `${warnings} warnings.`}`;
}
