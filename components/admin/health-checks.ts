import type { HealthReport } from "#lib/contract/portal-health";
import { type Check, serviceState } from "#lib/service-state";
import type { Tone } from "../ui/badge";

/** The checks of the installation: of all nodes, of REST and streams, and of the backups. */
export function checksOf({ at_ms: atMs, nodes, checked: probe, notes, backups }: HealthReport): readonly Check[] {
  return serviceState({ atMs, nodes, probe, notes, backups }).checks;
}

/** The color of a check. */
export const toneOf = ({ impact }: Check): Extract<Tone, "positive" | "warning" | "danger"> =>
  impact === null ? "positive" : impact === "warning" ? "warning" : "danger";

const IMPACTS: readonly Check["impact"][] = ["down", "degraded", "warning"];

/** The checks with a problem, the worst first. */
export function worstFirst(checks: readonly Check[]): readonly Check[] {
  const wrong = checks.filter(({ impact }) => impact !== null);
  return wrong.sort((a, b) => IMPACTS.indexOf(a.impact) - IMPACTS.indexOf(b.impact));
}

/** All checks in one sentence. */
export function summaryOf(checks: readonly Check[]): string {
  const count = (tone: Tone) => checks.filter((check) => toneOf(check) === tone).length;
  const [failing, warnings] = [count("danger"), count("warning")];
  const works = failing === 0 ? "Everything works." : failing === 1 ? "One check fails." : `${failing} checks fail.`;
  return warnings === 0 ? works : `${works} ${warnings === 1 ? "One warning." : `${warnings} warnings.`}`;
}
