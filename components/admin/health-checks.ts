import type { HealthReport } from "#lib/contract/portal-health";
import type { IdleReason } from "#lib/contract/service-status";
import { type Check, serviceState } from "#lib/service-state";
import type { Tone } from "../ui/badge";

/** The checks of the installation: of all nodes, of REST and streams, and of the backups. */
export function checksOf({ at_ms: atMs, nodes, checked: probe, backups }: HealthReport): readonly Check[] {
  return serviceState({ atMs, nodes, probe, backups }).checks;
}

/** The color of a check: what has nothing to judge is no success. */
export function toneOf({ impact, idle }: Check): Tone {
  if (impact === null) return idle === null ? "positive" : "neutral";
  return impact === "warning" ? "warning" : "danger";
}

const IDLE_WORDS: Readonly<Record<IdleReason, string>> = {
  not_configured: "Not configured",
  not_bound: "Not bound",
  closed: "Market closed",
  no_data: "No data yet",
};

/** A check in a word or two. */
export function wordOf({ impact, idle }: Check): string {
  if (impact === null) return idle === null ? "OK" : IDLE_WORDS[idle];
  return impact === "warning" ? "Warning" : "Problem";
}

const IMPACTS: readonly Check["impact"][] = ["down", "degraded", "warning"];

/** The checks with a problem, the worst first. */
export function worstFirst(checks: readonly Check[]): readonly Check[] {
  const wrong = checks.filter(({ impact }) => impact !== null);
  return wrong.sort((a, b) => IMPACTS.indexOf(a.impact) - IMPACTS.indexOf(b.impact));
}

/** What the live venue lacks although nothing is wrong, and the next step. */
interface LiveStep {
  readonly lacks: string;
  readonly means: string;
  readonly next: string;
}

/** What has to be done before the live venue has prices; undefined when it has some, and while a problem says so already. */
export function liveStep(checks: readonly Check[]): LiveStep | undefined {
  const found = (name: string) => checks.find((check) => check.name === name);
  const idle = found("feed_live")?.idle;
  if (idle === "not_bound")
    return {
      lacks: "Sandbox only: no live provider is configured.",
      means: "The live venue has market hours, but no prices.",
      next: "Bind a provider",
    };
  if (idle !== "no_data" || (found("prices_live")?.impact ?? null) !== null) return undefined;
  return {
    lacks: "The live feed has not sent any tick yet.",
    means: "The live venue has market hours, but no prices until the first tick.",
    next: "Check the feed",
  };
}

/** All checks in a few words. */
export function summaryOf(checks: readonly Check[]): string {
  const count = (tone: Tone) => checks.filter((check) => toneOf(check) === tone).length;
  const [failing, warnings] = [count("danger"), count("warning")];
  const lacks = liveStep(checks)?.lacks;
  const works = failing > 0 ? (failing === 1 ? "One check fails." : `${failing} checks fail.`) : (lacks ?? "Everything works.");
  const warned = warnings === 0 ? [] : [warnings === 1 ? "One warning." : `${warnings} warnings.`];
  return [works, ...(failing > 0 && lacks !== undefined ? [lacks] : []), ...warned].join(" ");
}
