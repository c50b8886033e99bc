/** What of the browser's measurement is used. */
export type Measured = Pick<
  PerformanceResourceTiming,
  | "startTime"
  | "domainLookupStart"
  | "domainLookupEnd"
  | "connectStart"
  | "connectEnd"
  | "secureConnectionStart"
  | "requestStart"
  | "responseStart"
  | "responseEnd"
> & { readonly serverTiming?: readonly { readonly name: string; readonly duration: number; readonly description: string }[] };

/** One part of a call. */
export interface TimingPart {
  readonly name: string;
  readonly ms: number;
}

/** Where the time of a call went. */
export interface Timing {
  readonly parts: readonly TimingPart[];
  /** No new connection was needed. */
  readonly reused: boolean;
  /** What the service says about its own work; empty when it says nothing. */
  readonly server: readonly TimingPart[];
}

const SERVER_MAX_COUNT = 10;

/** The parts of a call in order. A part that did not happen is left out. */
export function timingOf(measured: Measured): Timing {
  const { startTime, domainLookupStart, domainLookupEnd, connectStart, connectEnd, secureConnectionStart } = measured;
  const { requestStart, responseStart, responseEnd, serverTiming = [] } = measured;
  const tlsFrom = secureConnectionStart > 0 ? secureConnectionStart : connectEnd;
  const parts = [
    { name: "DNS", ms: domainLookupEnd - domainLookupStart },
    { name: "Connect", ms: tlsFrom - connectStart },
    { name: "TLS", ms: connectEnd - tlsFrom },
    { name: "Wait for the first byte", ms: responseStart - requestStart },
    { name: "Download", ms: responseEnd - responseStart },
  ];
  const known = parts.reduce((sum, { ms }) => sum + ms, 0);
  const queued = { name: "Queued in the browser", ms: responseEnd - startTime - known };
  const server = serverTiming
    .slice(0, SERVER_MAX_COUNT)
    .map(({ name, description, duration }) => ({ name: description === "" ? name : description, ms: duration }));
  return { parts: [queued, ...parts].filter(({ ms }) => ms > 0), reused: connectEnd === connectStart, server };
}

/** What the browser measured of the newest call to a URL; undefined when it measured nothing. */
export function measuredTiming(url: string): Timing | undefined {
  const entries = performance.getEntriesByName(new URL(url, location.href).href, "resource");
  const entry = entries.at(-1) as PerformanceResourceTiming | undefined;
  // Without these the browser hides the parts, as it does for other origins.
  return entry === undefined || entry.requestStart === 0 ? undefined : timingOf(entry);
}
