import type { Target } from "./options";
import type { Result } from "./simulation";
import { CORE_LOAD_MAX, type Sizing } from "./sizing";

type Line = readonly [what: string, value: string];

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

const count = (value: number) => Math.round(value).toLocaleString("en");
const micros = (value: number) => `${value.toFixed(2)} µs`;
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const bits = (bytesPerSecond: number) => `${((bytesPerSecond * 8) / 1e6).toFixed(1)} Mbit/s`;

function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 ? 0 : 1)} ${UNITS[unit]}`;
}

function table(head: Line, lines: readonly Line[]): string {
  return [head, ["---", "---"] as const, ...lines].map(([what, value]) => `| ${what} | ${value} |`).join("\n");
}

function measured({ scene, counts, costs }: Result): Line[] {
  const { seconds, edges } = scene;
  const decoded = counts.events * edges;
  return [
    ["events", `${count(counts.events / seconds)} per second, ${(counts.events / counts.ticks).toFixed(1)} per tick`],
    ["messages to clients", `${count(counts.messages / seconds)} per second, ${size(counts.clientBytes / counts.messages)} each`],
    [
      "merged",
      `${percent(counts.merged / (counts.messages + counts.merged))} of the records due, ${counts.closed} clients closed`,
    ],
    ["waiting for slow clients at the end", size(counts.queuedBytes)],
    ["engine and its view", `${micros(costs.engineUs / counts.ticks)} per tick`],
    ["encoding", `${micros(costs.encodeUs / counts.events)} per event, ${micros(costs.encodeUs / counts.ticks)} per tick`],
    [
      "decoding",
      `${micros(costs.decodeUs / decoded)} per event, ${micros((costs.decodeUs * counts.events) / decoded / counts.ticks)} per tick and edge`,
    ],
    ["following (view, recent events)", `${micros(costs.followUs / decoded)} per event`],
    ["hub, outbox, frame", `${micros(costs.fanoutUs / counts.messages)} per message, without the socket`],
    ["memory per client", `${size(costs.bytesPerClient)}, without the socket`],
    ["memory per ticker and node", size(costs.bytesPerTicker)],
    [
      "bus",
      `${size(counts.busBytes / counts.ticks)} per tick, ${size(counts.busBytes / counts.events)} per event, ${count(counts.batches / seconds)} batches per second`,
    ],
    ["newest records in Redis", `${size(counts.stateBytes / counts.ticks)} per tick`],
    ["to clients", `${size(counts.clientBytes / counts.ticks)} per tick`],
  ];
}

function sized(sizing: Sizing, target: Target): Line[] {
  const own = (given: number | undefined) => (given === undefined ? "simulated, without sockets" : "as given");
  if (sizing.clientsPerEdge === 0)
    return [
      [
        "edges",
        `no number is enough: following the events takes ${percent(sizing.followLoad)} of a core. Split the tickers over several installations.`,
      ],
    ];
  return [
    ["messages", `${count(sizing.messagesPerSecond)} per second at ${micros(sizing.messageUs)} (${own(target.messageUs)})`],
    [
      "per edge",
      `${percent(sizing.followLoad)} of a core to follow events (${own(target.followUs)}), ${count(sizing.clientsPerEdge)} clients with the rest`,
    ],
    ["edges", `${count(sizing.edges)}, one core each, at ${percent(CORE_LOAD_MAX)} load`],
    [
      "memory per edge, without the process itself",
      `${size(sizing.memoryPerEdgeBytes)} (connections: ${own(target.connectionBytes)})`,
    ],
    ["network", `${bits(sizing.networkPerEdgeBytesPerSecond)} per edge, ${bits(sizing.networkBytesPerSecond)} in total`],
    [
      "Redis",
      `${bits(sizing.redisInBytesPerSecond)} in, ${bits(sizing.redisOutBytesPerSecond)} out to the edges and two ingest nodes in ${count(sizing.redisReadsPerSecond)} reads per second`,
    ],
    [
      "ingest",
      `${percent(sizing.ingestLoad)} of a core; ${count(sizing.ticksPerSecondMax)} ticks per second would raise it to ${percent(CORE_LOAD_MAX)}`,
    ],
  ];
}

/** The tables of a simulation and of the sizing based on it, as Markdown. */
export function report(result: Result, sizing: Sizing, target: Target): string {
  const { tickers, ticksPerSecond, clients, subscriptions, stream, slow, seconds, edges } = result.scene;
  const scene =
    `${tickers} tickers with ${ticksPerSecond} ticks per second each, ${clients} clients on ${edges} edges, ${subscriptions} ` +
    `${stream} subscriptions per client, ${percent(slow)} of them slow, ${seconds} s`;
  return [
    `${scene}\n`,
    `${table(["simulated", "CPU of one core, bytes"], measured(result))}\n`,
    table([`for ${count(target.connections)} connections`, "with the same subscriptions and ticks each"], sized(sizing, target)),
    "",
  ].join("\n");
}
