import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { SERVER_TIMEOUT_MS } from "../../server";
import { openScene, REDIS_PROGRAM, type Scene } from "../scene";
import { type Census, expectAgreement, growth, memory, print, untilUpToDate } from "../verdict";

const SAMPLES_COUNT = 20;
const MIB = 1_048_576;

function row(atS: number, { nodes, ticks }: Census): string {
  const shown = [...nodes].map(([name, { liveBytes, residentBytes }]) => {
    const [live, resident] = [liveBytes, residentBytes].map((bytes) => Math.round(bytes / MIB));
    return `${name} ${live} (${resident})`;
  });
  return `${String(atS).padStart(5)} s  ${String(ticks).padStart(6)} ticks  ${shown.join("  ")}`;
}

describe.skipIf(REDIS_PROGRAM === undefined)("a cluster that runs for long", () => {
  let scene: Scene | undefined;
  beforeAll(async () => {
    scene = await openScene();
    await untilUpToDate(scene, Date.now());
  }, SERVER_TIMEOUT_MS);
  afterAll(() => scene?.close(), SERVER_TIMEOUT_MS);

  test("a cluster under load for a long time does not grow, and answers correctly", async () => {
    if (scene === undefined) throw new Error("the scene opens before all");
    const soakS = inject("soakS");
    const startMs = Date.now();
    let half: Census | undefined;
    print("live (and resident) memory in MiB");
    for (let sample = 1; sample <= SAMPLES_COUNT; sample += 1) {
      const atMs = startMs + (sample * soakS * 1000) / SAMPLES_COUNT;
      await untilUpToDate(scene, atMs, atMs - Date.now());
      const census = await memory(scene);
      print(row(Math.round((Date.now() - startMs) / 1000), census));
      // From here on nodes keep their maximum number of events, in a soak of ten minutes.
      if (sample === SAMPLES_COUNT / 2) half = census;
    }
    await expectAgreement(scene);
    if (half === undefined) throw new Error("half of the samples come before the last");
    expect(await growth(scene, half)).toEqual([]);
  });
});
