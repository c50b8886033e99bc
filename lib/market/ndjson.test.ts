import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BodyTooLong, type Line, readLines } from "./ndjson";

const LIMITS = { bodyMaxBytes: 200, lineMaxBytes: 20 };

function bodyOf(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  const chunks = edges.slice(1).map((edge, index) => bytes.slice(edges[index], edge));
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) if (chunk.length > 0) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function read(text: string, cuts: readonly number[] = []): Promise<{ lines: Line[]; tooLong: boolean }> {
  const lines: Line[] = [];
  try {
    for await (const group of readLines(bodyOf(new TextEncoder().encode(text), cuts), LIMITS)) lines.push(...group);
    return { lines, tooLong: false };
  } catch (error) {
    if (!(error instanceof BodyTooLong)) throw error;
    return { lines, tooLong: true };
  }
}

describe("reading a body line by line", () => {
  test("a body yields the same lines however it is split into chunks", async () => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", "💱", " ", "{"), maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(60), { maxLength: 6 }), async (lines, cuts) => {
        const text = lines.join("\n");
        const size = new TextEncoder().encode(text).length;
        const whole = await read(text);
        expect(
          await read(
            text,
            cuts.filter((cut) => cut < size),
          ),
        ).toEqual(whole);
      }),
    );
  });

  test("lines are numbered as in an editor, and blank ones are skipped", async () => {
    const { lines } = await read("a\r\n\n  \nb");
    expect(lines).toEqual([
      { number: 1, text: "a" },
      { number: 4, text: "b" },
    ]);
  });

  test("an overlong line is reported and the next one is read", async () => {
    const { lines } = await read(`${"x".repeat(21)}\nok\n`, [5, 10]);
    expect(lines).toEqual([
      { number: 1, text: null },
      { number: 2, text: "ok" },
    ]);
  });

  test("reading stops at the body limit, after the lines before it", async () => {
    const { lines, tooLong } = await read("0123456789\n".repeat(30));
    expect(tooLong).toBe(true);
    expect(lines).toHaveLength(18);
  });
});
