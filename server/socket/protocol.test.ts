import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ERROR_IDS, ERRORS, type ErrorId } from "#lib/contract/errors";
import { STREAM_TICKERS_PER_MESSAGE_MAX_COUNT } from "#lib/contract/limits";
import { STREAMS, TIMEFRAMES } from "#lib/contract/primitives";
import { ClientMessage, ErrorMessage, STREAM_METHODS } from "#lib/contract/stream";
import { errorMessageOf, type Reading, readMessage, readPacked, readText } from "./protocol";

const PLACE = { connectionId: "c", docsBase: "https://docs.example" };

/** The id that is echoed for a value, if it is a valid one. */
function legibleId(value: unknown): string | number | null {
  const id = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { id?: unknown }).id : undefined;
  if (typeof id === "string" && id.length <= 64) return id;
  return Number.isSafeInteger(id) ? (id as number) : null;
}

/** Asserts that the result is a message of the contract, or an error of the contract with its id. */
function expectSound(reading: Reading, value: unknown): void {
  if (reading.ok) {
    expect(ClientMessage.safeParse(reading.message).success).toBe(true);
    return;
  }
  expect(ERROR_IDS).toContain(reading.fault.id);
  expect(reading.id).toBe(legibleId(value));
  const message = errorMessageOf(reading.fault, { id: reading.id, ...PLACE });
  expect(ErrorMessage.parse(message)).toEqual(message);
  expect(Math.floor(message.code / 100)).toBe(400);
  expect(message.data.detail.length).toBeGreaterThan(5);
}

const anything = fc.oneof(fc.anything(), fc.jsonValue());
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: anything });
const tickers = fc.array(maybe(fc.oneof(fc.constantFrom("EURUSD", "eurusd", "EUR/USD", ""), fc.string())), { maxLength: 110 });
const resume = fc.record(
  { epoch: maybe(fc.string()), seq: maybe(fc.oneof(fc.nat(), fc.dictionary(fc.string(), maybe(fc.nat())))) },
  { requiredKeys: [] },
);
const params = fc.record(
  {
    stream: maybe(fc.constantFrom(...STREAMS)),
    tickers: maybe(tickers),
    timeframe: maybe(fc.constantFrom(...TIMEFRAMES)),
    snapshot: maybe(fc.boolean()),
    resume: maybe(resume),
  },
  { requiredKeys: [] },
);
const nearMessage = fc.record(
  { id: maybe(fc.oneof(fc.integer(), fc.string())), method: maybe(fc.constantFrom(...STREAM_METHODS)), params: maybe(params) },
  { requiredKeys: [] },
);

describe("reading a message", () => {
  test("reading never throws, for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.json()), (text) => {
        let value: unknown;
        try {
          value = JSON.parse(text);
        } catch {
          value = undefined;
        }
        expectSound(readText(text), value);
      }),
      { numRuns: 2_000 },
    );
  });

  test("reading never throws, for any value", () => {
    fc.assert(
      fc.property(anything, (value) => expectSound(readMessage(value), value)),
      { numRuns: 1_000 },
    );
  });

  test("reading never throws for almost valid messages, and returns their id", () => {
    fc.assert(
      fc.property(nearMessage, (value) => {
        expectSound(readMessage(value), value);
        const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
        expectSound(readText(text), JSON.parse(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test("reading is the same in both encodings, for any value that JSON has", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue({ maxDepth: 5 }), nearMessage), (value) => {
        const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
        fc.pre(text !== undefined && !text.includes("__proto__"));
        expect(readPacked(pack(JSON.parse(text)))).toEqual(readText(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test("reading never throws, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        let value: unknown;
        try {
          value = decode(bytes);
        } catch {
          value = undefined;
        }
        const reading = readPacked(Buffer.from(bytes));
        // Some of what the format has is refused: its value has no id then.
        expectSound(reading, !reading.ok && reading.id === null ? undefined : value);
      }),
      { numRuns: 3_000 },
    );
  });

  test("reading never throws for messages nested as deeply as the size limit allows", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"params":', "}"],
    ] as const) {
      const text = `${open.repeat(1_300)}1${close.repeat(1_300)}`;
      expectSound(readText(text), JSON.parse(text));
      expectSound(readText(open.repeat(16_384)), undefined);
    }
  });

  test("reading ignores unknown fields", () => {
    const message = { method: "subscribe", params: { stream: "quote", tickers: ["EURUSD"], depth: 5 }, more: 1, id: "a" };
    expect(readMessage(message)).toEqual({
      ok: true,
      message: { id: "a", method: "subscribe", params: { stream: "quote", tickers: ["EURUSD"] } },
    });
  });
});

const QUOTE = { stream: "quote", tickers: ["EURUSD"] };
const many = Array.from({ length: STREAM_TICKERS_PER_MESSAGE_MAX_COUNT + 1 }, (_, index) => `T${index}`);
const subscribe = (more: object) => ({ method: "subscribe", params: { ...QUOTE, ...more } });

/** A value as MessagePack. */
const pack = (value: unknown) => Buffer.from(encode(value, { ignoreUndefined: true, maxDepth: 10_000 }));

describe("a message that cannot be read", () => {
  const cases: [why: string, message: unknown, id: ErrorId, data: object][] = [
    ["invalid JSON", "{", "invalid_parameter", {}],
    ["nothing", "", "invalid_parameter", {}],
    ["a list", [], "invalid_parameter", {}],
    ["a string", '"subscribe"', "invalid_parameter", {}],
    ["no method", {}, "missing_parameter", { parameter: "method" }],
    ["an unknown method", { method: "depth" }, "invalid_parameter", { parameter: "method", allowed: [...STREAM_METHODS] }],
    ["a method in the wrong case", { method: "Subscribe" }, "invalid_parameter", { parameter: "method" }],
    ["no parameters", { method: "subscribe" }, "missing_parameter", { parameter: "params" }],
    ["parameters that are not an object", { method: "subscribe", params: [] }, "invalid_parameter", { parameter: "params" }],
    ["no stream", { method: "subscribe", params: { tickers: ["EURUSD"] } }, "missing_parameter", { parameter: "stream" }],
    ["an unknown stream", subscribe({ stream: "depth" }), "invalid_parameter", { parameter: "stream", allowed: [...STREAMS] }],
    ["no tickers", subscribe({ tickers: undefined }), "missing_parameter", { parameter: "tickers" }],
    ["an empty list of tickers", subscribe({ tickers: [] }), "missing_parameter", { parameter: "tickers" }],
    ["one ticker outside a list", subscribe({ tickers: "EURUSD" }), "invalid_parameter", { parameter: "tickers" }],
    ["a ticker that is not a string", subscribe({ tickers: ["EURUSD", 7] }), "invalid_parameter", { parameter: "tickers.1" }],
    ["too many tickers", subscribe({ tickers: many }), "too_many_tickers", { parameter: "tickers", max: 100 }],
    ["klines without a timeframe", subscribe({ stream: "kline" }), "missing_parameter", { parameter: "timeframe" }],
    [
      "an unknown timeframe",
      subscribe({ stream: "kline", timeframe: "m1" }),
      "unsupported_timeframe",
      { parameter: "timeframe", allowed: [...TIMEFRAMES] },
    ],
    ["quotes with a timeframe", subscribe({ timeframe: "M1" }), "invalid_parameter", { parameter: "timeframe" }],
    ["a snapshot flag that is not a boolean", subscribe({ snapshot: "false" }), "invalid_parameter", { parameter: "snapshot" }],
    [
      "a resume position without its epoch",
      subscribe({ resume: { seq: 1 } }),
      "missing_parameter",
      { parameter: "resume.epoch" },
    ],
    [
      "a resume position without its sequence",
      subscribe({ resume: { epoch: "e" } }),
      "missing_parameter",
      { parameter: "resume.seq" },
    ],
    ["a fractional sequence", subscribe({ resume: { epoch: "e", seq: 1.5 } }), "invalid_parameter", { parameter: "resume.seq" }],
    [
      "one sequence for several tickers",
      subscribe({ tickers: ["EURUSD", "GBPUSD"], resume: { epoch: "e", seq: 1 } }),
      "invalid_parameter",
      { parameter: "resume.seq" },
    ],
    ["an invalid id", { id: {}, method: "ping" }, "invalid_parameter", { parameter: "id" }],
    ["a list whose parameters are not an object", { method: "list", params: 1 }, "invalid_parameter", { parameter: "params" }],
  ];
  test.each(cases)("an invalid message gets an error that names the problem: %s", (_, message, id, data) => {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    const reading = readText(text);
    expect(reading).toMatchObject({ ok: false, fault: { id, data } });
    if (!reading.ok) expect(errorMessageOf(reading.fault, { id: 1, ...PLACE }).code).toBe(ERRORS[id].code);
    // What is valid JSON can be said in MessagePack, and gets the same answer.
    if (typeof message !== "string") expect(readPacked(pack(message))).toEqual(reading);
  });
});
