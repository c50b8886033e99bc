import type { Clock } from "#lib/clock";
import { type Repeating, startRepeating } from "#lib/repeat";
import { DAY_MS } from "#lib/units";
import { certificateEnd } from "#server/outgoing/certificate";

/** Looks once a day at the certificate of a URL, until stopped; `endsAt` is null while its end is not known. */
export function startCertificateWatch(url: string, clock: Clock): Repeating & { endsAt(): number | null } {
  let endMs: number | null = null;
  const watch = startRepeating({ clock, pause: DAY_MS, atOnce: true }, async () => {
    // A look that fails says nothing about the certificate that was seen before.
    endMs = (await certificateEnd(url)) ?? endMs;
  });
  return { ...watch, endsAt: () => endMs };
}
