import { UNIX_SECONDS_END } from "#lib/contract/limits";
import { InstantParameter } from "#lib/contract/primitives";
import { SECOND_MS } from "#lib/units";
import { UsageError } from "./usage-error";

/** The instant that an option names, Unix milliseconds. @throws UsageError */
export function instantOf(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) {
    if (Number(text) < UNIX_SECONDS_END) return Number(text) * SECOND_MS;
    throw new UsageError(`--${option} ${text}: must be in Unix seconds; this value looks like milliseconds.`);
  }
  const parsed = InstantParameter.safeParse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `--${option} ${text}: must be a day, an ISO 8601 time with an offset such as 2024-01-01T00:00:00Z, or Unix seconds.`,
  );
}
