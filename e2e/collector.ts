import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { importTool } from "#lib/testing/tools";

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span as it came; ids are hexadecimal, and the id of a parent is empty without one. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  /** 2: error. */
  readonly status: number;
  readonly attributes: Attributes;
  readonly resource: Attributes;
}

/** A metric as it came. */
interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: "gauge" | "sum" | "histogram";
  readonly points: readonly { readonly attributes: Attributes; readonly value: number; readonly counts: readonly number[] }[];
}

/** A collector of OpenTelemetry that reads what it gets (OTLP over HTTP, in protobuf). */
export interface Collector {
  readonly url: string;
  spans(): readonly ReceivedSpan[];
  /** The newest export. */
  metrics(): readonly ReceivedMetric[];
  /** Everything that came, to search it for what must not be in it. */
  bytes(): Buffer;
  /** From now on it takes requests and does not answer; or answers all again. */
  hang(on: boolean): void;
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

const attributesOf = (pairs: readonly KeyValue[]): Attributes =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0] ?? ""]));

interface Protobuf {
  load(file: string): Promise<{
    lookupType(type: string): { decode(body: Buffer): object; toObject(message: object, options: object): Message };
  }>;
}

// biome-ignore lint/suspicious/noExplicitAny: decoded messages have the shape of the file beside this one
type Message = any;

function spansOf({ resourceSpans }: Message): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: Message) =>
    scopeSpans.flatMap(({ spans }: Message) =>
      spans.map(({ name, traceId, spanId, parentSpanId, kind, attributes, status }: Message) => ({
        name,
        traceId,
        spanId,
        parentSpanId,
        kind,
        status: status?.code ?? 0,
        attributes: attributesOf(attributes),
        resource: attributesOf(resource.attributes),
      })),
    ),
  );
}

function metricsOf({ resourceMetrics }: Message): ReceivedMetric[] {
  const metrics: Message[] = resourceMetrics.flatMap(({ scopeMetrics }: Message) =>
    scopeMetrics.flatMap((scope: Message) => scope.metrics),
  );
  return metrics.map(({ name, unit, gauge, sum, histogram }) => ({
    name,
    unit,
    kind: histogram ? "histogram" : sum ? "sum" : "gauge",
    points: (histogram ?? sum ?? gauge).dataPoints.map((point: Message) => ({
      attributes: attributesOf(point.attributes),
      value: Number(histogram ? point.count : point.asDouble || point.asInt),
      counts: (point.bucketCounts ?? []).map(Number),
    })),
  }));
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** Starts a collector on a free port. */
export async function startCollector(): Promise<Collector> {
  const { default: protobuf } = await importTool<{ default: Protobuf }>("protobufjs");
  const root = await protobuf.load(fileURLToPath(new URL("./otlp.proto", import.meta.url)));
  const read = (type: string, body: Buffer): Message => {
    const found = root.lookupType(type);
    return found.toObject(found.decode(body), { longs: Number, arrays: true });
  };
  const received: Buffer[] = [];
  const spans: ReceivedSpan[] = [];
  const waiting: ServerResponse[] = [];
  let metrics: readonly ReceivedMetric[] = [];
  let hanging = false;

  function take(path: string | undefined, body: Buffer): void {
    received.push(body);
    if (path === "/v1/traces")
      for (const span of spansOf(read("otlp.ExportTraces", body))) {
        const { traceId, spanId, parentSpanId } = span as unknown as Record<string, Uint8Array>;
        const ids = {
          traceId: hex(traceId ?? ([] as never)),
          spanId: hex(spanId ?? ([] as never)),
          parentSpanId: hex(parentSpanId ?? ([] as never)),
        };
        spans.push({ ...span, ...ids });
      }
    else if (path === "/v1/metrics") metrics = metricsOf(read("otlp.ExportMetrics", body));
    else throw new Error(`nothing is sent to ${path}`);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (hanging) return void waiting.push(response);
      const sent = Buffer.concat(chunks);
      take(request.url, request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent);
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    metrics: () => metrics,
    bytes: () => Buffer.concat(received),
    hang(on) {
      hanging = on;
      if (!on) for (const response of waiting.splice(0)) response.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
