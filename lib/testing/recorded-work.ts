import { channel } from "node:diagnostics_channel";
import { onTestFinished } from "vitest";
import { WORK_ENDED, WORK_STARTED, type Work } from "#lib/spans";

/** The work that ends from now until the test does, as telemetry would get it. */
export function recordedWork(): readonly Work[] {
  const ended: Work[] = [];
  const note = (work: unknown) => void ended.push(work as Work);
  const ignore = () => undefined;
  channel(WORK_STARTED).subscribe(ignore);
  channel(WORK_ENDED).subscribe(note);
  onTestFinished(() => {
    channel(WORK_STARTED).unsubscribe(ignore);
    channel(WORK_ENDED).unsubscribe(note);
  });
  return ended;
}
