import { expect, test } from "vitest";
import type { Scene } from "./scene";
import { agree, memory, say, seconds, whole } from "./verdict";

const CASE_TIMEOUT_MS = 200_000;

/** Faults of the nodes that answer clients, and a new release, with these variables changed, on all of them. */
export function edgeCases(scene: () => Scene, released: () => Promise<Readonly<Record<string, string>>>): void {
  test("leads clients to the other edge when theirs is killed", async () => {
    const { cluster } = scene();
    const before = await memory(scene());
    const [edge] = cluster.edges;
    const sinceMs = Date.now();
    await edge.kill9();
    const wholeMs = await whole(scene(), sinceMs);
    await edge.start();
    const startedMs = Date.now();
    const coldMs = await whole(scene(), startedMs);
    say(
      `edge killed: every client whole after ${seconds(wholeMs)} s; started again, it has news ${seconds(coldMs)} s after it listened`,
    );
    await agree(scene(), before);
  });

  test(
    "loses nobody and nothing while each node is replaced",
    async () => {
      const { cluster } = scene();
      for (const node of cluster.nodes) {
        const sinceMs = Date.now();
        expect(await node.stop()).toBe(0);
        const stoppedMs = Date.now() - sinceMs;
        await whole(scene(), sinceMs);
        await node.start(await released());
        const wholeMs = await whole(scene(), Date.now());
        say(`${node.name} replaced: stopped after ${seconds(stoppedMs)} s, everyone whole ${seconds(wholeMs)} s after it was up`);
      }
      await agree(scene());
    },
    CASE_TIMEOUT_MS,
  );
}
