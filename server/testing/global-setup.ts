import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { openLazyEndpoint } from "#lib/testing/lazy-endpoint";
import type { TestServer } from "./database-server";

declare module "vitest" {
  export interface ProvidedContext {
    /** Answers with the URL of the test run's database server; starts it on the first request. */
    databaseEndpoint: string;
  }
}

/** Runs once before all tests: provides one database server, which starts only if a test needs it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<TestServer> | undefined;
  let folder: string | undefined;

  async function start(): Promise<TestServer> {
    folder = await mkdtemp(path.join(tmpdir(), "spotwire-test-"));
    // Loaded when the server starts: a run of pure tests needs neither.
    const { startTestServer } = await import("./database-server");
    return startTestServer(folder);
  }

  const endpoint = await openLazyEndpoint(async () => {
    started = start();
    return (await started).url;
  });
  project.provide("databaseEndpoint", endpoint.url);

  return async () => {
    endpoint.close();
    await (await started?.catch(() => undefined))?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
}
