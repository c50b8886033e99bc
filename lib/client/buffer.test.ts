import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBuffer } from "./buffer";

describe("a buffer", () => {
  test("a buffer returns the newest records in order, for any sequence of puts and takes", async () => {
    const steps = fc.array(fc.integer({ min: -2_000, max: 3_000 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2_500 }), steps, async (capacity, amounts) => {
        const buffer = createBuffer<number>(capacity);
        let model: number[] = [];
        let put = 0;
        let dropped = 0;
        for (const amount of amounts) {
          for (let index = 0; index < amount; index += 1) {
            buffer.push(put);
            model.push(put);
            put += 1;
          }
          dropped += Math.max(0, model.length - capacity);
          model = model.slice(-capacity);
          for (let index = 0; index < -amount && model.length > 0; index += 1)
            expect(await buffer.next()).toEqual({ value: model.shift(), done: false });
        }
        expect(buffer.dropped).toBe(dropped);
        buffer.end();
        for (const value of model) expect(await buffer.next()).toEqual({ value, done: false });
        expect(await buffer.next()).toEqual({ value: undefined, done: true });
      }),
      { numRuns: 60 },
    );
  });
});
