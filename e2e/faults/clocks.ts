import { writeFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { CLOCK_LIBRARY, missing } from "#lib/testing/packages";
import { HOUR_S } from "#lib/units";
import type { Node } from "./node";
import type { Scene } from "./scene";
import { expectAgreement, memory, print, seconds, untilUpToDate } from "./verdict";

const LOOK = { interval: 50 };
const NOTICED = "the wall clock of this machine is wrong";
const OVER = "the wall clock of this machine is right again";
/** Variables that set the wall clock of a node ahead by the offset in a file. */
export async function shiftable(file: string): Promise<Readonly<Record<string, string>>> {
  await setAhead(file, 0);
  return {
    LD_PRELOAD: CLOCK_LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}

async function setAhead(file: string, seconds: number): Promise<void> {
  await writeFile(file, `${seconds < 0 ? "" : "+"}${seconds}\n`);
}

/** Faults of the wall clocks of the nodes. */
export function clockCases(scene: () => Scene, file: string): void {
  const absent = missing("libfaketime");
  for (const [words, aheadS] of [
    ["an hour ahead", HOUR_S],
    ["an hour back", -HOUR_S],
  ] as const)
    test.skipIf(absent !== null)(
      `the cluster keeps the right time when the clocks of all nodes are set ${words} ${absent === null ? "" : `(${absent})`}`,
      async () => {
        const { cluster } = scene();
        const before = await memory(scene());
        const { out } = scene().reference.totals();
        const earlier = new Map<Node, number>(cluster.nodes.map((node) => [node, node.output().length]));
        await setAhead(file, aheadS);
        const said = (text: string) => (node: Node) => node.output().slice(earlier.get(node)).includes(text);
        await vi.waitUntil(() => cluster.nodes.every(said(NOTICED)), LOOK);
        const upToDateMs = await untilUpToDate(scene(), Date.now());
        await expectAgreement(scene(), before);
        await setAhead(file, 0);
        // A node that was still ignoring its clock would not say so again.
        await vi.waitUntil(() => cluster.nodes.every(said(OVER)), LOOK);
        print(`clocks ${words}: noticed by all nodes, every client had new data after ${seconds(upToDateMs)} s`);
        expect(scene().reference.totals().out).toBe(out);
      },
    );
}
