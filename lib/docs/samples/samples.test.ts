import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SOCKET_IO_NAMESPACE, STREAM_PATH } from "#lib/contract/stream";
import { OPERATION_LIST, operations } from "#lib/operations/declarations";
import { subscribeOf, subscribeTextOf } from "./call";
import { generate, REST_SAMPLES, type RestCall, STREAM_SAMPLES, type StreamCall } from "./index";
import { javaScriptLiteral, pythonLiteral, shellLiteral } from "./literal";

const BASE = "https://market.example.com";
const KEY = "sw_test_0123456789abcdefghijklmnopqrstuvwxyz";
const ANY_TEXT = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(...`'"\\\`$!{}%&;|<>()\n\u2028\0#*~`) }),
);

const klines: RestCall = {
  operation: operations.klines,
  parameters: { ticker: "EURUSD", timeframe: "H1", from: "1767225600", to: "", limit: "24" },
  base: BASE,
  key: KEY,
};
const stream: StreamCall = {
  operation: { method: "STREAM", path: STREAM_PATH, namespace: SOCKET_IO_NAMESPACE },
  parameters: { stream: "kline", tickers: ["EURUSD", "XAUUSD"], timeframe: "M1", snapshot: false },
  base: BASE,
  key: KEY,
};

const codeOf = (call: RestCall | StreamCall, id: string) => generate(call).find((sample) => sample.id === id)?.code ?? "";

describe("a sample is printed as it was agreed", () => {
  test.each(REST_SAMPLES.map(({ id }) => id))("REST in %s", async (id) => {
    const own = codeOf({ ...klines, key: null }, id);
    const post = codeOf({ ...klines, operation: operations.createStreamTicket, parameters: {} }, id);
    const file = codeOf({ ...klines, operation: operations.file, parameters: { id: "klines-EURUSD-2026-10" } }, id);
    await expect([codeOf(klines, id), own, post, file, ""].join("\n\n")).toMatchFileSnapshot(`golden/rest-${id}.txt`);
  });

  test.each(STREAM_SAMPLES.map(({ id }) => id))("a stream in %s", async (id) => {
    const own = codeOf({ ...stream, key: null, parameters: { stream: "quote", tickers: ["EURUSD"] } }, id);
    await expect([codeOf(stream, id), own, ""].join("\n\n")).toMatchFileSnapshot(`golden/stream-${id}.txt`);
  });
});

describe("any text in the form", () => {
  test("is in the address of every language, and nothing of it is code", () => {
    const values = fc.dictionary(ANY_TEXT, ANY_TEXT);
    fc.assert(
      fc.property(values, fc.constantFrom(...OPERATION_LIST), (parameters, operation) => {
        const wanted = Object.entries(parameters)
          .filter(([, value]) => value !== "")
          .map((pair) => pair.map((text) => text.replace(/\p{Surrogate}/gu, "\ufffd")));
        for (const { code } of generate({ ...klines, operation, parameters })) {
          const [address = ""] = /https:\/\/market\.example\.com[^"'\s]*/.exec(code) ?? [];
          expect(address).toMatch(/^[\w.~:/?&=,%[\]@+-]+$/);
          expect([...new URL(address).searchParams]).toEqual(wanted);
        }
      }),
    );
  });

  test("changes nothing of a sample but the address", () => {
    fc.assert(
      fc.property(ANY_TEXT, (value) => {
        const plain = generate({ ...klines, parameters: {} });
        const filled = generate({ ...klines, parameters: { a: `${value}x` } });
        for (const [index, { code }] of filled.entries()) expect(code.replace(/\?a=[^"'\s]*/, "")).toBe(plain[index]?.code);
      }),
    );
  });

  test("never prints a key that could be code, and names the variable in its place", () => {
    fc.assert(
      fc.property(ANY_TEXT, (text) => {
        const key = `${text}"'$(x)`;
        for (const call of [{ ...klines, key } satisfies RestCall, { ...stream, key } satisfies StreamCall])
          for (const { code } of generate(call)) {
            expect(code).not.toContain("$(x)");
            expect(code).toContain("SPOTWIRE_KEY");
          }
      }),
    );
  });

  test("keeps an address with active characters from being code", () => {
    for (const call of [{ ...klines, base: `http://a$(x)'"\`b` } satisfies RestCall, { ...stream, base: `http://a$(x)'"\`b` }])
      for (const { code } of generate(call)) expect(code).not.toMatch(/\$\(x\)|a\$/);
  });
});

/** Between what a language puts the message that subscribes, where the message stands in it as it is. */
const QUOTES = {
  go: ["`", "`"],
  csharp: ['"""', '"""'],
  rust: ['r#"', '"#'],
  php: ["text('", "')"],
  java: ['"""\n            ', '"""'],
} as const;

describe("a subscription in a literal means what it meant", () => {
  const tickers = fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 5 });
  const params = tickers.map((list) => subscribeOf({ ...stream, parameters: { ...stream.parameters, tickers: list } }));
  const wild = fc
    .array(ANY_TEXT, { minLength: 1, maxLength: 5 })
    .map((list) => subscribeOf({ ...stream, parameters: { ...stream.parameters, tickers: list } }));

  test("of JavaScript", () => {
    fc.assert(
      fc.property(fc.oneof(params, wild), (value) => {
        expect(new Function(`return ${javaScriptLiteral(value)}`)()).toEqual(value);
      }),
    );
  });

  test("of a POSIX shell", () => {
    const texts = fc.sample(ANY_TEXT, 200).map((text) => text.replaceAll("\0", "").replace(/\p{Surrogate}/gu, "?"));
    const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${texts.map(shellLiteral).join(" ")}`]);
    expect(printed.toString().split("\0").slice(0, -1)).toEqual(texts);
  });

  test.each(Object.entries(QUOTES))("of %s, between quotes that nothing in it closes", (id, [open, close]) => {
    fc.assert(
      fc.property(fc.array(ANY_TEXT, { minLength: 1, maxLength: 5 }), (list) => {
        const call: StreamCall = { ...stream, parameters: { ...stream.parameters, tickers: list } };
        const [, after = ""] = codeOf(call, id).split(open);
        const [text = ""] = after.split(close);
        // Java alone reads backslashes in such a text.
        expect(id === "java" ? text.replaceAll("\\\\", "\\") : text).toBe(subscribeTextOf(call));
        expect(text).toMatch(/^[\w.:,{}[\]"\\-]+$/);
        expect(JSON.parse(subscribeTextOf(call))).toEqual({ id: 1, method: "subscribe", params: subscribeOf(call) });
      }),
    );
  });

  test("of Python", () => {
    const values = [...fc.sample(params, 100), ...fc.sample(wild, 100)];
    const lines = values.map((value) => `print(json.dumps(${pythonLiteral(value)}))`);
    const printed = execFileSync("python3", ["-"], { input: ["import json", ...lines].join("\n") });
    expect(
      printed
        .toString()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(values);
  });
});
