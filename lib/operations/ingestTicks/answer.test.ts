import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { TickLine } from "#lib/contract/ingest";
import { INGEST_MAX_LINES, INGEST_PUSH_MIN_TICKS } from "#lib/contract/limits";
import type { Tick } from "#lib/domain/tick";
import { Fault, isFault } from "#lib/fault";
import { readTick } from "#lib/market/ingest";
import { createLeader } from "#lib/market/leader";
import type { Leader, Market } from "#lib/market/ports";
import type { SentBody } from "#lib/market/question";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { takeTicks } from "./answer";

const LINE = '{"ticker":"EURUSD","time_msc":1767225600123,"bid":1.1,"ask":1.2}\n';

function venueOf({ push }: Pick<Leader, "push">): Market {
  const about = { venue: "live" as const, catalogue: createSandboxCatalogue(), timeAt: (wallMs: number) => wallMs };
  return { ...about, leader: createLeader({ market: about, push, mend: null, clock: manualClock(0) }) } as unknown as Market;
}

function market(taken: Tick[]): Market {
  const push: Leader["push"] = async (read) => {
    taken.push(...read.filter((tick) => typeof tick !== "string"));
    return read.map((tick) => (typeof tick === "string" ? tick : null));
  };
  return venueOf({ push });
}

function sentBody(body: AsyncIterable<Uint8Array> | string, encoding: string | null = null): SentBody {
  return { body: typeof body === "string" ? new Blob([body]).stream() : body, encoding };
}

async function faultOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => undefined,
    (error: unknown) => (isFault(error) ? { id: error.id, ...error.data } : error),
  );
}

describe("a pushed body", () => {
  test("a pushed body that breaks off is refused with a message, and the lines before are kept", async () => {
    const taken: Tick[] = [];
    let sent = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent) return controller.error(new Error("aborted"));
        sent = true;
        controller.enqueue(new TextEncoder().encode(LINE));
      },
    });
    const fault = await faultOf(takeTicks({ sent: sentBody(body), market: market(taken), tickers: [] }));
    expect(fault).toMatchObject({ id: "invalid_parameter", detail: expect.stringContaining("1 lines were accepted") });
    expect(taken).toHaveLength(1);
  });

  test("a compressed pushed body is refused before it is read", async () => {
    const taken: Tick[] = [];
    const answer = takeTicks({ sent: sentBody(LINE, "gzip"), market: market(taken), tickers: [] });
    expect(await faultOf(answer)).toMatchObject({ id: "invalid_parameter", parameter: "Content-Encoding" });
    expect(taken).toEqual([]);
  });

  test("lines of tickers that the key may not push are rejected, each on its own", async () => {
    const taken: Tick[] = [];
    const body = ["GBPUSD", "EURUSD", "gbpusd", "XAUUSD"].map((ticker) => LINE.replace("EURUSD", ticker)).join("");
    const tickers = ["EURUSD", "XAUUSD"];
    expect((await takeTicks({ sent: sentBody(body), market: market(taken), tickers })).data).toMatchObject({
      accepted: 2,
      reasons: { unknown_ticker: 1, malformed_line: 1 },
      rejections: [
        { line: 1, reason: "unknown_ticker" },
        { line: 3, reason: "malformed_line" },
      ],
    });
    expect(taken.map(({ ticker }) => ticker)).toEqual(tickers);
  });

  test("a tick is taken exactly if it fits the schema of the contract, without fields that it does not know", () => {
    const number = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom(0, -0, 0.5, 1, -1));
    const anything = fc.oneof(number, fc.string(), fc.constantFrom("EURUSD", "eurusd", "EU", null, undefined, true));
    const fields = { ticker: anything, time_msc: anything, bid: anything, ask: anything, volume: anything, other: anything };
    const valid = fc.record({
      ticker: fc.constant("EURUSD"),
      time_msc: fc.maxSafeNat(),
      bid: fc.double({ min: 1e-9, noNaN: true, noDefaultInfinity: true }),
      ask: fc.double({ min: 1e-9, noNaN: true, noDefaultInfinity: true }),
    });
    const mixed = fc.tuple(valid, fc.record(fields, { requiredKeys: [] })).map(([tick, other]) => ({ ...tick, ...other }));
    fc.assert(
      fc.property(fc.oneof(mixed, valid, anything, fc.array(valid)), (value) => {
        const read = readTick(value, () => true);
        const { success, data } = TickLine.safeParse(value);
        if (success) expect(read).toEqual(data);
        else expect(["bad_price", "malformed_line"]).toContain(read);
      }),
    );
  });

  test("a pushed body with the largest number of lines is accepted, one more line is refused", async () => {
    const taken: Tick[] = [];
    const most = await takeTicks({ sent: sentBody(LINE.repeat(INGEST_MAX_LINES)), market: market(taken), tickers: [] });
    expect(most.data).toMatchObject({ received: INGEST_MAX_LINES, accepted: INGEST_MAX_LINES });
    const more = takeTicks({ sent: sentBody(LINE.repeat(INGEST_MAX_LINES + 1)), market: market(taken), tickers: [] });
    expect(await faultOf(more)).toMatchObject({ id: "payload_too_large", max: INGEST_MAX_LINES });
    expect(taken).toHaveLength(2 * INGEST_MAX_LINES);
  });

  test("a limit of ticks that is reached while a body is forwarded is reported as such", async () => {
    const refusal = new Fault("rate_limited", { retry_after: 3 });
    const asked: number[] = [];
    const admitTicks = async (ticks: number) => {
      asked.push(ticks);
      throw refusal;
    };
    /** As the forwarder does: a body that fails is a node that does not answer. */
    const failing: Leader["takeTicks"] = async (body) => {
      for await (const _chunk of body ?? []);
      throw new Fault("internal_error");
    };
    const edge = { leader: { takeTicks: failing } } as unknown as Market;
    const push = (lines: number) =>
      faultOf(takeTicks({ sent: sentBody(LINE.repeat(lines)), market: edge, tickers: [], admitTicks }));
    expect(await push(INGEST_PUSH_MIN_TICKS)).toMatchObject({ id: "internal_error" });
    expect(await push(INGEST_PUSH_MIN_TICKS + 2)).toEqual({ id: "rate_limited", retry_after: 3 });
    expect(asked).toEqual([2]);
  });
});

test("a line without an outcome is an error, and does not count as accepted", async () => {
  const body = () => sentBody(LINE.repeat(2));
  const answer = takeTicks({ sent: body(), market: venueOf({ push: async () => [null] }), tickers: [] });
  await expect(answer).rejects.toThrow("no outcome of line 2");
});
