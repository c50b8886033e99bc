import { SECOND_MS } from "#lib/units";
import type { FeederRequest } from "./feeder-service";

/** What a feeder sent to one address, as it is kept in a file: all bodies together, with times counted from the start of the scene. */
export interface RecordedRequests extends Pick<FeederRequest, "method" | "path"> {
  readonly contentType: string | undefined;
  readonly lines: readonly string[];
}

/** Moves the times in a line: of ticks in ms, of klines in s. */
export function moved(line: string, byMs: number): string {
  return line
    .replace(/"time_msc":(-?\d+)/, (_, time) => `"time_msc":${Number(time) + byMs}`)
    .replace(/"time":(-?\d+)/, (_, time) => `"time":${Number(time) + byMs / SECOND_MS}`);
}

/** Requests as text to keep. How many batches there were depends on the machine, so each address has one entry. */
export function recordOf(requests: readonly FeederRequest[], startMs: number): string {
  const byAddress = new Map<string, RecordedRequests>();
  for (const { method, path, headers, body } of requests) {
    const address = `${method} ${path}`;
    const lines = body.split("\n").filter((line) => line !== "");
    const earlier = byAddress.get(address)?.lines ?? [];
    const all = [...earlier, ...lines.map((line) => moved(line, -startMs))];
    byAddress.set(address, { method, path, contentType: headers["content-type"], lines: all });
  }
  return `${JSON.stringify([...byAddress.values()], null, 2)}\n`;
}
