import { STREAMS, type StreamName } from "#lib/contract/primitives";
import { UsageError } from "#server/cli/usage-error";

/** Bounds keep a run within the memory and the patience of one machine; a tick every 5 ms is the simulation's step. */
const BOUNDS = {
  tickers: [1, 10_000],
  "ticks-per-second": [1, 200],
  clients: [1, 200_000],
  subscriptions: [1, 1_000],
  seconds: [1, 3_600],
  edges: [1, 64],
  "target-connections": [1, 1_000_000_000],
  "message-us": [0.01, 1_000],
  "follow-us": [0.01, 10_000],
  "connection-bytes": [1, 100_000_000],
} as const;

type NumberName = keyof typeof BOUNDS;

/** Options of the command line, as for node:util parseArgs. */
export const OPTIONS = {
  tickers: { type: "string", default: "40" },
  "ticks-per-second": { type: "string", default: "10" },
  clients: { type: "string", default: "1000" },
  subscriptions: { type: "string", default: "10" },
  stream: { type: "string", default: "quote" },
  slow: { type: "string", default: "0.02" },
  seconds: { type: "string", default: "60" },
  edges: { type: "string", default: "2" },
  "target-connections": { type: "string", default: "1000000" },
  "message-us": { type: "string" },
  "follow-us": { type: "string" },
  "connection-bytes": { type: "string" },
} as const;

export const USAGE = `npm run simulate -- [options]

Drives engine, bus, wire codec, projections, hubs and outboxes with virtual clients on a simulated clock, and reports what
each step costs on this machine. It opens no sockets: npm run bench measures what the network costs.

  --tickers 40                  instruments
  --ticks-per-second 10         of each instrument, at most 200
  --clients 1000                spread over the edges
  --subscriptions 10            instruments each client follows
  --stream quote                stream they follow: quote, snapshot or kline (M1)
  --slow 0.02                   share of the clients that read a twentieth of what they are sent
  --seconds 60                  simulated time
  --edges 2                     nodes that follow the events and send them to clients
  --target-connections 1000000  connections to size the installation for
  --message-us US               CPU microseconds per message, as measured with sockets by npm run bench -- fanout
  --follow-us US                CPU microseconds per tick of an edge without clients, as measured by npm run bench -- cluster
  --connection-bytes BYTES      memory per connection, as measured with sockets by npm run bench -- idle
  --help

Exit code: 0 when every client received what it should, 1 when one did not, 2 for wrong usage.`;

/** One market with its audience. */
export interface Scene {
  readonly tickers: number;
  /** Of each ticker. */
  readonly ticksPerSecond: number;
  readonly clients: number;
  /** Tickers each client follows. */
  readonly subscriptions: number;
  readonly stream: StreamName;
  /** Share of the clients that read too slowly, 0 to 1. */
  readonly slow: number;
  readonly seconds: number;
  readonly edges: number;
}

/** The target to size an installation for, and costs measured with sockets. */
export interface Target {
  readonly connections: number;
  /** CPU microseconds per message; undefined: as simulated. */
  readonly messageUs: number | undefined;
  /** CPU microseconds that an edge without clients spends per tick; undefined: as simulated. */
  readonly followUs: number | undefined;
  /** Memory per connection, bytes; undefined: as simulated. */
  readonly connectionBytes: number | undefined;
}

type Values = { readonly [Name in keyof typeof OPTIONS]?: string };

/**
 * Reads the command line.
 * @throws UsageError that names the option and its allowed values
 */
export function readOptions(values: Values): { scene: Scene; target: Target } {
  const whole = (name: NumberName) => numberIn(name, values[name] ?? "", true);
  const measured = (name: NumberName) => (values[name] === undefined ? undefined : numberIn(name, values[name], false));
  const scene = {
    tickers: whole("tickers"),
    ticksPerSecond: whole("ticks-per-second"),
    clients: whole("clients"),
    subscriptions: whole("subscriptions"),
    stream: streamOf(values.stream ?? ""),
    slow: shareOf(values.slow ?? ""),
    seconds: whole("seconds"),
    edges: whole("edges"),
  };
  if (scene.subscriptions > scene.tickers)
    throw new UsageError(`--subscriptions ${scene.subscriptions}: there are only ${scene.tickers} tickers (--tickers).`);
  const target = {
    connections: whole("target-connections"),
    messageUs: measured("message-us"),
    followUs: measured("follow-us"),
    connectionBytes: measured("connection-bytes"),
  };
  return { scene, target };
}

function numberIn(name: NumberName, text: string, whole: boolean): number {
  const [least, most] = BOUNDS[name];
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= least && value <= most) || (whole && !Number.isInteger(value)))
    throw new UsageError(`--${name} ${text}: must be a ${whole ? "whole " : ""}number from ${least} to ${most}.`);
  return value;
}

function shareOf(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= 0 && value <= 1)) throw new UsageError(`--slow ${text}: must be a share from 0 to 1.`);
  return value;
}

function streamOf(text: string): StreamName {
  const stream = STREAMS.find((name) => name === text);
  if (stream === undefined) throw new UsageError(`--stream ${text}: must be one of ${STREAMS.join(", ")}.`);
  return stream;
}
