import { Writable } from "node:stream";
import fc from "fast-check";
import pino from "pino";
import { expect, test } from "vitest";
import { printable, printableJson, printableName } from "./printable";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

test("printed text has no character that a terminal obeys, and other text stays", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(printable(text)).not.toMatch(CONTROL);
      if (!CONTROL.test(text)) expect(printable(text)).toBe(text);
      expect(printableName(text)).not.toContain("\n");
    }),
  );
  expect(printable("Ünïcode\t✓\n")).toBe("Ünïcode\t✓\n");
});

test("a logged line has none either, and says the same", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      let line = "";
      const sink = new Writable({
        write(chunk, _, done) {
          line += chunk;
          done();
        },
      });
      pino({ hooks: { streamWrite: printableJson } }, sink).info({ file: text });
      expect(line.trimEnd()).not.toMatch(CONTROL);
      expect(JSON.parse(line).file).toBe(JSON.parse(JSON.stringify(text)));
    }),
  );
});
