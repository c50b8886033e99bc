import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Tick } from "#lib/domain/tick";
import { type Entry, EntryDraft, entriesIn } from "./journal-entries";

const number = fc.double({ noNaN: true });
const ticks: fc.Arbitrary<Tick> = fc.record(
  { ticker: fc.stringMatching(/^[A-Z0-9]{1,255}$/), time_msc: number, bid: number, ask: number, volume: number },
  { requiredKeys: ["ticker", "time_msc", "bid", "ask"] },
);
const entries: fc.Arbitrary<Entry[]> = fc.array(
  fc.record({ first: fc.nat(), atMs: fc.nat(), ticks: fc.array(ticks, { minLength: 1, maxLength: 400 }) }),
  { maxLength: 5 },
);

/** A file of entries, and where each of them ends. */
function fileOf(written: readonly Entry[]): { readonly file: Buffer; readonly ends: readonly number[] } {
  const draft = new EntryDraft();
  const ends: number[] = [];
  let file = Buffer.alloc(0);
  for (const { first, atMs, ticks } of written) {
    for (const tick of ticks) draft.add(tick);
    expect(draft.count).toBe(ticks.length);
    file = Buffer.concat([file, draft.seal(first, atMs)]);
    ends.push(file.length);
    draft.clear();
  }
  return { file, ends };
}

describe("entries of a journal", () => {
  test("what was written is read, whatever the numbers and however many ticks", () => {
    fc.assert(
      fc.property(entries, (written) => {
        expect([...entriesIn(fileOf(written).file)]).toEqual(written);
      }),
    );
  });

  test("of a file that ends anywhere, the entries before its end are read, and a torn one is said", () => {
    fc.assert(
      fc.property(entries, fc.double({ min: 0, max: 1, noNaN: true }), (written, share) => {
        const { file, ends } = fileOf(written);
        const cut = Math.floor(share * file.length);
        const whole = ends.filter((end) => end <= cut).length;
        const isTorn = cut > (ends[whole - 1] ?? 0);
        expect([...entriesIn(file.subarray(0, cut))]).toEqual([...written.slice(0, whole), ...(isTorn ? [null] : [])]);
      }),
    );
  });

  test("an entry with a changed byte is not believed", () => {
    fc.assert(
      fc.property(entries, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (written, share) => {
        fc.pre(written.length > 0);
        const { file, ends } = fileOf(written);
        const at = Math.floor(share * file.length);
        const changed = Buffer.from(file);
        changed[at] = (changed[at] ?? 0) ^ 0x40;
        const hit = ends.findIndex((end) => at < end);
        const read = [...entriesIn(changed)];
        expect(read.slice(0, hit)).toEqual(written.slice(0, hit));
        expect(read[hit]).toBeNull();
        expect(read).not.toContainEqual(written[hit]);
      }),
    );
  });
});
