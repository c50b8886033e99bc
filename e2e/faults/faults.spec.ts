import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { SERVER_TIMEOUT_MS } from "../server";
import { CLOCK_LIBRARY, clockCases, shiftable } from "./clocks";
import { crowdCases } from "./crowd";
import { edgeCases } from "./edges";
import { feedCases } from "./feed";
import { leaderCases } from "./leader";
import { openScene, REDIS_PROGRAM, type Scene } from "./scene";
import { databaseCases, mountDisk, redisCases } from "./stores";
import { whole } from "./verdict";

const NO_REDIS = "(skipped: no Redis or Valkey here, and none could be installed)";
const missing = REDIS_PROGRAM === undefined;

describe.skipIf(missing)(`two edges and two ingest nodes under load ${missing ? NO_REDIS : ""}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "spotwire-disk-"));
  const clockFile = `${folder}.clock`;
  const mounted = !missing && mountDisk(folder);
  let opened: Scene | undefined;
  const scene = (): Scene => {
    if (opened === undefined) throw new Error("the scene opens before all");
    return opened;
  };
  beforeAll(async () => {
    opened = await openScene({ dataDir: join(folder, "database") });
    await whole(opened, Date.now());
  }, SERVER_TIMEOUT_MS);
  afterAll(async () => {
    await opened?.close();
    if (mounted) execFileSync("umount", [folder]);
    for (const path of [folder, clockFile]) rmSync(path, { recursive: true, force: true });
  }, SERVER_TIMEOUT_MS);

  leaderCases(scene);
  redisCases(scene);
  databaseCases(scene, mounted ? folder : undefined);
  feedCases(scene);
  crowdCases(scene);
  edgeCases(scene, async () => (CLOCK_LIBRARY === undefined ? {} : shiftable(clockFile)));
  clockCases(scene, clockFile);
});
