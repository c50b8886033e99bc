import type { Clock } from "#lib/clock";
import type { DiskSpace, NodeReport } from "#lib/contract/portal-health";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { IdleReason } from "#lib/contract/service-status";
import type { Env } from "#lib/env";
import { DAMAGED_HISTORY, LOOP_SAMPLE_MS, type Metrics } from "#lib/metrics";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Market } from "./ports";
import { lastTickOf, quietSince, unofferedOf } from "./status";

/** Codes are the HTTP status times 100 and more. */
const CLIENT_ERRORS_FROM = 40_000;
const SERVER_ERRORS_FROM = 50_000;
/** An end nearer than this needs an operator: most renew a certificate a month before, and a token that is renewed, three days. */
const CERTIFICATE_NEAR_MS = 14 * DAY_MS;
const TOKEN_NEAR_MS = 2 * DAY_MS;

/** The parts of a running node that its report is made from. */
export interface NodeSources {
  readonly markets: Readonly<Record<Venue, Market>>;
  readonly metrics: Pick<Metrics, "registry">;
  readonly clock: Clock;
  ready(): Promise<{
    readonly checks: Readonly<Record<string, string | null>>;
    readonly idle: Readonly<Record<string, IdleReason>>;
  }>;
  readonly env: Pick<Env, "ROLE" | "SMTP_URL" | "PUBLIC_URL">;
  /** The disk that it writes to; null where it cannot be read. */
  readonly disk: () => DiskSpace | null;
  /** When the certificate of PUBLIC_URL ends, Unix milliseconds; null while it is not known. */
  readonly certificateEnd: () => number | null;
  /** What is wrong with the mail server, as a sentence; null for nothing, and without one. */
  readonly mailProblem: () => string | null;
  readonly version: string;
  /** The metrics of each edge worker; absent where there are none. */
  readonly workers?: (() => Promise<readonly MetricTable[]>) | undefined;
}

type MetricTable = readonly { readonly name: string; readonly values: Series }[];
type Rates = NonNullable<NodeReport["rates"]>;
/** What a process counted since it started. */
type Counts = Rates & { readonly atMs: number };

type Series = readonly { readonly labels: Readonly<Record<string, unknown>>; readonly value: number }[];

async function seriesOf({ registry }: NodeSources["metrics"], name: string): Promise<Series> {
  return (await registry.getSingleMetric(name)?.get())?.values ?? [];
}

const sumOf = (series: Series) => series.reduce((sum, { value }) => sum + value, 0);

const forVenues = <Value>(of: (venue: Venue) => Value) =>
  Object.fromEntries(VENUES.map((venue) => [venue, of(venue)])) as Record<Venue, Value>;

/** The series of a metric in all processes of the node. */
type Whole = (name: string) => Promise<Series>;

async function countsOf(whole: Whole, atMs: number): Promise<Counts> {
  const [calls, messages, ticks] = await Promise.all([
    whole("spotwire_http_requests_total"),
    whole("spotwire_stream_messages_total"),
    whole("spotwire_ticks_total"),
  ]);
  const from = (least: number, below: number) =>
    sumOf(calls.filter(({ labels }) => Number(labels.code) >= least && Number(labels.code) < below));
  const taken = (venue: Venue) => sumOf(ticks.filter(({ labels }) => labels.venue === venue && labels.outcome === "accepted"));
  return {
    atMs,
    calls: sumOf(calls),
    rejected: from(CLIENT_ERRORS_FROM, SERVER_ERRORS_FROM),
    failed: from(SERVER_ERRORS_FROM, Number.POSITIVE_INFINITY),
    messages: sumOf(messages),
    ticks: forVenues(taken),
  };
}

function ratesOf(before: Counts | undefined, after: Counts): NodeReport["rates"] {
  const minutes = before === undefined ? 0 : (after.atMs - before.atMs) / MINUTE_MS;
  if (before === undefined || minutes <= 0) return null;
  // The counts of a worker that ended are gone.
  const rate = (was: number, is: number) => Math.max(0, is - was) / minutes;
  return {
    calls: rate(before.calls, after.calls),
    rejected: rate(before.rejected, after.rejected),
    failed: rate(before.failed, after.failed),
    messages: rate(before.messages, after.messages),
    ticks: forVenues((venue) => rate(before.ticks[venue], after.ticks[venue])),
  };
}

const lagOf = (lastTickMs: number | null, nowMs: number) => (lastTickMs === null ? null : Math.max(0, nowMs - lastTickMs));

/** What ends soon, or has ended; null while it does not. */
function endText(what: string, leftMs: number, nearMs: number): string | null {
  if (leftMs > nearMs) return null;
  const days = Math.ceil(leftMs / DAY_MS);
  return leftMs <= 0 ? `${what} has ended.` : `${what} ends in ${days === 1 ? "1 day" : `${days} days`}.`;
}

/** What will need an operator, by name: the mail server, the certificate of PUBLIC_URL, and the tokens of providers that say when they end. */
function warningsOf({ markets, certificateEnd, mailProblem, clock }: NodeSources): Record<string, string | null> {
  const leftMs = (atMs: number | null) => (atMs ?? Number.POSITIVE_INFINITY) - clock.now();
  const tokens = markets.live.feed().providers.flatMap(({ name, expires_at }) => {
    const text = expires_at === null ? null : endText(`The token of ${name}`, leftMs(Date.parse(expires_at)), TOKEN_NEAR_MS);
    return text ?? [];
  });
  return {
    mail_server: mailProblem(),
    certificate: endText("The certificate of PUBLIC_URL", leftMs(certificateEnd()), CERTIFICATE_NEAR_MS),
    provider_token: tokens.length === 0 ? null : tokens.join(" "),
  };
}

/** What is not there to be warned of: no mail server, no certificate, no token that ends. */
function idleOf({ markets, env, certificateEnd }: NodeSources): NonNullable<NodeReport["idle"]> {
  const isSecure = env.PUBLIC_URL?.startsWith("https:") ?? false;
  const hasToken = markets.live.feed().providers.some(({ expires_at }) => expires_at !== null);
  return {
    ...(env.SMTP_URL === undefined && { mail_server: "not_configured" }),
    // One behind a proxy may not be seen from here.
    ...(certificateEnd() === null && { certificate: isSecure ? "no_data" : "not_configured" }),
    ...(!hasToken && { provider_token: "not_configured" }),
  };
}

/** Each process counts the files that it read itself. */
function damagedText(count: number): string | null {
  if (count === 0) return null;
  const files = count === 1 ? "A file of history is" : `${count} files of history are`;
  return `${files} damaged or missing. The log names them; npm run history -- check says what they concern.`;
}

/** Makes the function that reports this node by the metrics of its processes. Each report has the rates since the one before. */
export function createNodeReport(sources: NodeSources): () => Promise<NodeReport> {
  const { metrics, markets, env, version, workers, clock } = sources;
  let before: Counts | undefined;
  return async () => {
    const tables = (await workers?.()) ?? [];
    const whole: Whole = async (name) => {
      const others = tables.flatMap((table) => table.filter((metric) => metric.name === name));
      return [...(await seriesOf(metrics, name)), ...others.flatMap(({ values }) => values)];
    };
    const sum = async (name: string) => sumOf(await seriesOf(metrics, name));
    const sumAll = async (name: string) => sumOf(await whole(name));
    const counts = await countsOf(whole, clock.now());
    const rates = ratesOf(before, counts);
    before = counts;
    const damaged = Math.max(0, ...(await whole(DAMAGED_HISTORY)).map(({ value }) => value));
    // Reading this one measures the event loop, and sets its percentiles.
    await sum("nodejs_eventloop_lag_seconds");
    const { checks, idle } = await sources.ready();
    return {
      version,
      role: env.ROLE,
      started_ms: (await sum("process_start_time_seconds")) * SECOND_MS,
      checks,
      warnings: { ...warningsOf(sources), history_files: damagedText(damaged) },
      idle: { ...idle, ...idleOf(sources) },
      rates,
      connections: await sumAll("spotwire_stream_connections"),
      lag_ms: forVenues((venue) => lagOf(lastTickOf(markets[venue]), counts.atMs)),
      quiet_since_ms: forVenues((venue) => quietSince(markets[venue], counts.atMs)),
      not_offered: forVenues((venue) => unofferedOf(markets[venue])),
      memory_bytes: await sumAll("process_resident_memory_bytes"),
      // Nothing is measured yet in the first moments.
      loop_lag_ms: Math.max(0, (await sum("nodejs_eventloop_lag_p99_seconds")) * SECOND_MS - LOOP_SAMPLE_MS),
      disk: sources.disk(),
    };
  };
}
