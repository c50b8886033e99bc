import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IngestReceipt } from "#lib/contract/ingest";
import { KlineReceipt } from "#lib/contract/ingest-klines";
import { operations } from "#lib/operations/declarations";
import { SECOND_MS } from "#lib/units";
import { type FeederService, startFeederService } from "#server/testing/mt5/feeder-service";
import { moved, type RecordedRequests } from "#server/testing/mt5/record";

/** What the Expert Advisor sent; advisor.test.ts writes these files with `npx vitest -u`. */
const read = (name: string): RecordedRequests[] => JSON.parse(readFileSync(path.join(import.meta.dirname, name), "utf8"));

describe("what the Expert Advisor sends", () => {
  let service: FeederService;

  beforeAll(async () => {
    service = await startFeederService();
  });
  afterAll(() => service?.close());

  /** Sends recorded requests as if they were of now; returns the data of each answer, by path. */
  async function send(requests: readonly RecordedRequests[]): Promise<Map<string, unknown>> {
    const startMs = service.nextScene();
    const answers = new Map<string, unknown>();
    for (const { method, path, contentType, lines } of requests) {
      const now = { "x-virtual-now": `${startMs + 59 * SECOND_MS}` };
      const headers = { ...now, authorization: `Bearer ${service.key}`, ...(contentType && { "content-type": contentType }) };
      const body = lines.map((line) => `${moved(line, startMs)}\n`).join("");
      const answer = await fetch(service.url + path, { method, headers, ...(body !== "" && { body }) });
      expect(answer.status, `${method} ${path}`).toBe(200);
      answers.set(path.replace(/\?.*/, ""), ((await answer.json()) as { data: unknown }).data);
    }
    return answers;
  }

  test("the service takes every recorded tick of the Expert Advisor", async () => {
    const answers = await send(read("recorded-ticks.json"));
    expect(IngestReceipt.parse(answers.get(operations.ingestTicks.path))).toMatchObject({ received: 10, accepted: 10 });
    expect(service.taken).toHaveLength(10);
  });

  test("the service stores every recorded minute of the Expert Advisor", async () => {
    const answers = await send(read("recorded-minutes.json"));
    expect(KlineReceipt.parse(answers.get(operations.ingestKlines.path))).toMatchObject({ received: 3, accepted: 3 });
  });
});
