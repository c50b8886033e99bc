import { expect, test } from "vitest";
import type { Scene } from "./scene";
import { expectAgreement, memory, print, seconds, untilUpToDate } from "./verdict";

/** Faults of the edges, and an upgrade that restarts every node with these variables changed. */
export function edgeCases(scene: () => Scene, released: () => Promise<Readonly<Record<string, string>>>): void {
  test("clients of a killed edge continue on the other edge", async () => {
    const { cluster } = scene();
    const before = await memory(scene());
    const [edge] = cluster.edges;
    const sinceMs = Date.now();
    await edge.kill9();
    const upToDateMs = await untilUpToDate(scene(), sinceMs);
    await edge.start();
    const startedMs = Date.now();
    const coldMs = await untilUpToDate(scene(), startedMs);
    print(
      `edge killed: every client up to date after ${seconds(upToDateMs)} s; after its restart it had new data ${seconds(coldMs)} s after it listened`,
    );
    await expectAgreement(scene(), before);
  });

  test("a rolling upgrade of all nodes loses no client and no data", async () => {
    const { cluster } = scene();
    for (const node of cluster.nodes) {
      const sinceMs = Date.now();
      expect(await node.stop()).toBe(0);
      const stoppedMs = Date.now() - sinceMs;
      await untilUpToDate(scene(), sinceMs);
      await node.start(await released());
      const upToDateMs = await untilUpToDate(scene(), Date.now());
      print(
        `${node.name} replaced: stopped after ${seconds(stoppedMs)} s, everyone up to date ${seconds(upToDateMs)} s after it was up`,
      );
    }
    await expectAgreement(scene());
  });
}
