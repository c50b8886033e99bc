import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe } from "vitest";
import { missing } from "#lib/testing/packages";
import { mountTestDisk } from "#server/testing/disk";
import { SERVER_TIMEOUT_MS } from "../server";
import { clockCases, shiftable } from "./clocks";
import { crowdCases } from "./crowd";
import { edgeCases } from "./edges";
import { feedCases } from "./feed";
import { leaderCases } from "./leader";
import { openScene, REDIS_PROGRAM, type Scene } from "./scene";
import { databaseCases, redisCases } from "./stores";
import { print, untilUpToDate } from "./verdict";

/** A fault takes half a minute; this ends a case on a machine many times slower. */
const CASE_TIMEOUT_MS = 600_000;
const noRedis = REDIS_PROGRAM === undefined;

describe.skipIf(noRedis)("two edges and two ingest nodes under load", { timeout: CASE_TIMEOUT_MS }, () => {
  const disk = noRedis ? undefined : mountTestDisk("480m");
  const folder = disk?.folder ?? mkdtempSync(join(tmpdir(), "spotwire-disk-"));
  const clockFile = `${folder}.clock`;
  let opened: Scene | undefined;
  let scenes = 0;
  const scene = (): Scene => {
    if (opened === undefined) throw new Error("a scene opens before each case");
    return opened;
  };
  /** Closes the scene; nodes of a broken cluster may refuse to stop, which the case that broke it has reported. */
  async function close(): Promise<void> {
    const closing = opened?.close();
    opened = undefined;
    await closing?.catch((error: unknown) => print(`a broken cluster did not stop: ${error}`));
  }
  // Cases share a cluster as long as they pass; after a failure, the next case gets a new one.
  beforeEach(async ({ onTestFailed }) => {
    onTestFailed(close, SERVER_TIMEOUT_MS);
    if (opened !== undefined) return;
    for (const file of readdirSync(folder)) rmSync(join(folder, file), { recursive: true, force: true });
    scenes += 1;
    opened = await openScene({ dataDir: join(folder, `database ${scenes}`) });
    await untilUpToDate(opened, Date.now());
  }, 2 * SERVER_TIMEOUT_MS);
  afterAll(async () => {
    await opened?.close();
    disk?.unmount();
    for (const path of [folder, clockFile]) rmSync(path, { recursive: true, force: true });
  }, SERVER_TIMEOUT_MS);

  leaderCases(scene);
  redisCases(scene);
  databaseCases(scene, disk?.folder);
  feedCases(scene);
  crowdCases(scene);
  edgeCases(scene, async () => (missing("libfaketime") === null ? shiftable(clockFile) : {}));
  clockCases(scene, clockFile);
});
