import { afterAll, beforeAll, expect, test } from "vitest";
import {
  INGEST_MAX_LINES,
  INGEST_PUSH_MIN_TICKS,
  INGEST_TICKS_BURST_COUNT,
  INGEST_TICKS_PER_MINUTE_COUNT,
} from "#lib/contract/limits";
import { operations } from "#lib/operations/declarations";
import { lead } from "#server/testing/market";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const LINE = "{}\n";
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
  lead(t.markets.live);
});
afterAll(() => t.close());

const push = (key: string, lines: number) =>
  t.ask(operations.ingestTicks.path, { key, method: "POST", body: LINE.repeat(lines) });
const issue = async (account: string) =>
  (await t.issueKey({ account, plan: "free", scopes: ["market:ingest", "market:read"] })).text;

test("pushed ticks have a limit of their own: a push takes nothing from the plan, and counts as at least so many ticks", async () => {
  const key = await issue("feeder");
  const answer = await push(key, 1);
  expect(answer.headers.get("ratelimit-policy")).toBe(`"ticks";q=${INGEST_TICKS_PER_MINUTE_COUNT};w=60`);
  const left = INGEST_TICKS_PER_MINUTE_COUNT - INGEST_PUSH_MIN_TICKS;
  expect(answer.headers.get("ratelimit")).toBe(`"ticks";r=${left};t=60`);
  const larger = await push(key, INGEST_PUSH_MIN_TICKS + 7);
  expect(larger.headers.get("ratelimit")).toBe(`"ticks";r=${left - INGEST_PUSH_MIN_TICKS - 7};t=60`);
  const { headers } = await t.ask(operations.instruments.path, { key });
  expect(headers.get("ratelimit")).toBe('"plan";r=119;t=60');
});

test("blank lines cost no more ticks than a batch can have", async () => {
  const key = await issue("blank");
  const body = "\n".repeat(2 * INGEST_MAX_LINES);
  const answer = await t.ask(operations.ingestTicks.path, { key, method: "POST", body });
  expect(answer.headers.get("ratelimit")).toBe(`"ticks";r=${INGEST_TICKS_PER_MINUTE_COUNT - INGEST_MAX_LINES};t=60`);
});

test("a batch that passes the limit is refused at that point, and accepted again when ticks are left", async () => {
  const key = await issue("flood");
  const address = "203.0.113.7";
  await t.access.takeTicks(await t.access.verify(key, address), INGEST_TICKS_BURST_COUNT - INGEST_PUSH_MIN_TICKS, address);
  const lines = INGEST_PUSH_MIN_TICKS + 1;
  const refused = await push(key, lines);
  expect(refused).toMatchObject(failed("rate_limited", { retry_after: expect.any(Number) }));
  expect(refused.body.data.detail).toMatch(
    /^The burst limit of pushed ticks is reached; \d+ of \d+ ticks are left this minute\. Try again in \d+ s\.$/,
  );
  await t.clock.advance(1_000 * refused.body.data.retry_after);
  expect((await push(key, lines)).status).toBe(200);
});
