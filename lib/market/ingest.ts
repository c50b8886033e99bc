import { z } from "zod";
import { type IngestReceipt, TickLine, type TickRejection } from "#lib/contract/ingest";
import { INGEST_LINE_MAX_BYTES, INGEST_MAX_BYTES, INGEST_MAX_LINES, INGEST_REJECTIONS_LISTED_COUNT } from "#lib/contract/limits";
import { validate } from "#lib/contract/validate";
import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import { createTurnBudget } from "#lib/turn-budget";
import { BodyBroken, BodyTooLong, type Line, readLines } from "./ndjson";
import type { Leader } from "./ports";
import type { SentBody } from "./question";

/** The schema as one function; what it refuses is read again by the schema itself, for the issues. */
const CompiledTickLine = z.compile(TickLine);
/** The price fields of a line: a number that cannot be a price (0, -1) is a bad price, not a malformed line. */
const PRICES: ReadonlySet<unknown> = new Set(["bid", "ask"]);

/** Longest work on pushed ticks in one turn of the event loop, or little more. */
const TURN_MAX_MS = 5;

/** Await it before ticks are parsed and pushed. */
export const turnForTicks = createTurnBudget(TURN_MAX_MS);

/** What a schema says against a pushed value; undefined when it fits. */
export function problemOf(schema: z.ZodType, value: unknown): string | undefined {
  const read = validate(schema, value);
  return "refusals" in read ? read.refusals[0].detail : undefined;
}

/** What a schema says against a line; undefined when it fits, and for one that was too long to be kept. */
export function problemOfLine(schema: z.ZodType, { text }: Line): string | undefined {
  if (text === null) return undefined;
  try {
    return problemOf(schema, JSON.parse(text));
  } catch {
    return "The line is not JSON.";
  }
}

/** Counts accepted and rejected lines. */
export function createReceipt<Rejection extends string>() {
  const reasons: Partial<Record<Rejection, number>> = {};
  const rejections: { line: number; reason: Rejection; detail?: string }[] = [];
  let accepted = 0;
  let rejected = 0;
  return {
    /**
     * @param problem says what is wrong with the fields of a line that is listed as rejected
     * @throws Error without an outcome: it must not count as accepted
     */
    add(line: number, outcome: Rejection | null | undefined, problem: () => string | undefined): void {
      if (outcome === undefined) throw new Error(`no outcome of line ${line}`);
      if (outcome === null) {
        accepted += 1;
        return;
      }
      rejected += 1;
      reasons[outcome] = (reasons[outcome] ?? 0) + 1;
      if (rejections.length >= INGEST_REJECTIONS_LISTED_COUNT) return;
      const detail = problem();
      rejections.push({ line, reason: outcome, ...(detail !== undefined && { detail }) });
    },
    received: () => accepted + rejected,
    result: () => ({ received: accepted + rejected, accepted, rejected, reasons, rejections }),
  };
}

/** Parses a line into a tick, or into the reason why it is rejected. */
function parseLine(line: Line, mayPush: MayPush): Tick | TickRejection {
  if (line.text === null) return "line_too_long";
  try {
    return readTick(JSON.parse(line.text), mayPush);
  } catch {
    return "malformed_line";
  }
}

/** Whether a key may push a ticker. */
type MayPush = (ticker: string) => boolean;

/** Whether a key that is limited to these tickers (none: not limited) may push one. */
export function pushable(tickers: readonly string[]): MayPush {
  const allowed = new Set(tickers);
  return (ticker) => allowed.size === 0 || allowed.has(ticker);
}

/** Reads a parsed tick; the reason why it is rejected, if it is. */
export function readTick(value: unknown, mayPush: MayPush): Tick | TickRejection {
  const parsed = CompiledTickLine.safeParse(value);
  if (parsed.success) return mayPush(parsed.data.ticker) ? parsed.data : "unknown_ticker";
  const onlyPrices = parsed.error.issues.every(({ code, path: [field] }) => code === "too_small" && PRICES.has(field));
  return onlyPrices ? "bad_price" : "malformed_line";
}

/**
 * Ingests a pushed NDJSON body line by line as it arrives; each line is judged on its own. The next lines are read only
 * after the engine has applied the previous ones and the recorder has room, so a fast feeder is slowed down, not
 * buffered. Accepted ticks are in the engine when this resolves.
 * @param tickers that the caller's key may push; none: all
 * @throws Fault service_unavailable when the store of the venue falls behind; invalid_parameter
 * for a body that ended early; payload_too_large past the limits. The detail says how many lines were accepted.
 */
export async function ingestBody(
  body: AsyncIterable<Uint8Array> | null,
  push: Leader["push"],
  tickers: readonly string[],
): Promise<IngestReceipt> {
  const receipt = createReceipt<TickRejection>();
  const mayPush = pushable(tickers);
  if (body === null) return receipt.result();
  const limits = { bodyMaxBytes: INGEST_MAX_BYTES, lineMaxBytes: INGEST_LINE_MAX_BYTES };
  try {
    for await (const lines of readLines(body, limits)) {
      await turnForTicks();
      const room = INGEST_MAX_LINES - receipt.received();
      const taken = lines.slice(0, room);
      const outcomes = await push(taken.map((line) => parseLine(line, mayPush)));
      for (const [at, line] of taken.entries()) receipt.add(line.number, outcomes[at], () => problemOfLine(TickLine, line));
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

/** @throws Fault invalid_parameter for a compressed body */
export function requirePlainBody(sent: SentBody | null): void {
  const encoding = sent?.encoding ?? "identity";
  if (encoding !== "identity")
    throw new Fault("invalid_parameter", {
      parameter: "Content-Encoding",
      detail: "Send the body as plain NDJSON, not compressed.",
    });
}
