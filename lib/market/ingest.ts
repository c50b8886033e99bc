import { type IngestReceipt, TickLine, type TickRejection } from "#lib/contract/ingest";
import { INGEST_LINE_MAX_BYTES, INGEST_MAX_BYTES, INGEST_MAX_LINES, INGEST_REJECTIONS_LISTED_COUNT } from "#lib/contract/limits";
import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import { BodyBroken, BodyTooLong, type Line, readLines } from "./ndjson";
import type { Market } from "./ports";
import type { Call, DataReply } from "./question";

/** Fields of a line that are prices: a number that is none (0, -1) is a bad price, not a malformed line. */
const PRICES: ReadonlySet<unknown> = new Set(["bid", "ask"]);

/** Counts what became of the lines. */
function createReceipt() {
  const reasons: Partial<Record<TickRejection, number>> = {};
  const rejections: { line: number; reason: TickRejection }[] = [];
  let accepted = 0;
  let rejected = 0;
  return {
    accept(): void {
      accepted += 1;
    },
    reject(line: number, reason: TickRejection): void {
      rejected += 1;
      reasons[reason] = (reasons[reason] ?? 0) + 1;
      if (rejections.length < INGEST_REJECTIONS_LISTED_COUNT) rejections.push({ line, reason });
    },
    received: () => accepted + rejected,
    result: (): IngestReceipt => ({ received: accepted + rejected, accepted, rejected, reasons, rejections }),
  };
}

/** A line as a tick, or why it is none. */
function parseLine(line: Line): Tick | TickRejection {
  if (line.text === null) return "line_too_long";
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return "malformed_line";
  }
  const parsed = TickLine.safeParse(value);
  if (parsed.success) return parsed.data;
  const onlyPrices = parsed.error.issues.every(({ code, path: [field] }) => code === "too_small" && PRICES.has(field));
  return onlyPrices ? "bad_price" : "malformed_line";
}

/**
 * Takes a pushed NDJSON body into the market, line by line as it arrives; each line is judged alone. The next lines
 * are read only when the engine has taken the ones before and the recorder has room, so a fast feeder is held up
 * rather than buffered. Accepted ticks are in the engine when this resolves.
 * @throws Fault service_unavailable where the venue takes no pushed ticks, or while its store takes no more;
 * invalid_parameter for a body that ended early; payload_too_large past the limits, with the
 * receipt of the lines before in its detail.
 */
export async function ingestBody(body: ReadableStream<Uint8Array> | null, market: Market): Promise<IngestReceipt> {
  const { push } = market;
  if (push === undefined)
    throw new Fault("service_unavailable", {
      detail: `The ${market.venue} venue takes no pushed ticks; start the service with LIVE_FEED=push.`,
      retry_after: 60,
    });
  const receipt = createReceipt();
  if (body === null) return receipt.result();
  const limits = { bodyMaxBytes: INGEST_MAX_BYTES, lineMaxBytes: INGEST_LINE_MAX_BYTES };
  try {
    for await (const lines of readLines(body, limits)) {
      const room = INGEST_MAX_LINES - receipt.received();
      await takeLines(lines.slice(0, room), push, receipt);
      if (lines.length > room) throw new BodyTooLong();
    }
  } catch (error) {
    const { accepted, rejected } = receipt.result();
    if (error instanceof BodyBroken)
      throw new Fault("invalid_parameter", { detail: `The body ended early. Before that ${accepted} lines were accepted.` });
    if (!(error instanceof BodyTooLong)) throw error;
    throw new Fault("payload_too_large", {
      detail: `One batch is at most ${INGEST_MAX_LINES} lines and ${INGEST_MAX_BYTES} bytes. Before the limit ${accepted} lines were accepted and ${rejected} rejected.`,
      max: INGEST_MAX_LINES,
    });
  }
  return receipt.result();
}

/** Parses and pushes the lines of one chunk, and notes what became of each in the order of the lines. */
async function takeLines(
  lines: readonly Line[],
  push: NonNullable<Market["push"]>,
  receipt: ReturnType<typeof createReceipt>,
): Promise<void> {
  const parsed = lines.map(parseLine);
  const judged = (await push(parsed.filter((tick) => typeof tick !== "string"))).values();
  lines.forEach((line, index) => {
    const tick = parsed[index];
    const reason = typeof tick === "string" ? tick : judged.next().value;
    if (reason) receipt.reject(line.number, reason);
    else receipt.accept();
  });
}

/**
 * The receipt of a pushed body, as an answer.
 * @throws Fault as ingestBody does; invalid_parameter for a compressed body
 */
export async function ingestTicks({ request, market }: Pick<Call<object>, "request" | "market">): Promise<DataReply> {
  const encoding = request?.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity")
    throw new Fault("invalid_parameter", {
      parameter: "Content-Encoding",
      detail: "A pushed body is plain NDJSON, not compressed.",
    });
  const body = request?.body ?? null;
  if (market.push === undefined && market.forwardPush !== undefined) return { data: await market.forwardPush(body) };
  return { data: await ingestBody(body, market) };
}
