import { afterAll, beforeAll, expect, test } from "vitest";
import { POST as resume } from "#app/api/portal/webhooks/[id]/resume/route";
import { DELETE as remove } from "#app/api/portal/webhooks/[id]/route";
import { POST as sendTest } from "#app/api/portal/webhooks/[id]/test/route";
import { POST as add, GET as list } from "#app/api/portal/webhooks/route";
import { WEBHOOK_URL_MAX_CHARACTERS } from "#lib/contract/limits";
import { DAY_MS } from "#lib/units";
import { callerOf, portalBrowser, signedInBrowser } from "#server/testing/portal-browser";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";

const URL_TEXT = "https://hooks.example.com/in";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime({ variables: { WEBHOOK_ALLOWED_HOSTS: "hooks.internal:8080" } });
});
afterAll(() => t.close());

/** Calls as a user with a new account. */
const signIn = async (name: string, provedAgoMs = 0) => callerOf((await signedInBrowser(t, name, { provedAgoMs })).browser);

test("a signed-in user adds a webhook, sends a test, and removes it; its secret is in the first answer alone", async () => {
  const ann = await signIn("ann");
  const { data } = await ann(add, { body: { url: ` ${URL_TEXT} ` } });
  expect(data).toMatchObject({
    webhook: { url: URL_TEXT, paused_because: null, deliveries: [] },
    secret: expect.stringMatching(/^whsec_/),
  });
  const { id } = data.webhook;
  expect(await ann(sendTest, { id })).toMatchObject({ status: 200 });
  expect(await ann(resume, { id })).toMatchObject({ status: 200 });
  const listed = (await ann(list, { method: "GET" })).data;
  expect(listed.items).toMatchObject([{ id, deliveries: [{ type: "webhook.test", state: "waiting", attempts: 0 }] }]);
  expect(JSON.stringify(listed)).not.toContain("whsec_");
  expect(await ann(remove, { method: "DELETE", id })).toMatchObject({ status: 200 });
  expect((await ann(list, { method: "GET" })).data.items).toEqual([]);
});

test("nobody who is not signed in, and no other account, can see or change it", async () => {
  const [ann, eve, stranger] = [await signIn("owner"), await signIn("eve"), callerOf(portalBrowser())];
  const { id } = (await ann(add, { body: { url: URL_TEXT } })).data.webhook;
  for (const [handler, call] of [
    [list, { method: "GET" }],
    [add, { body: { url: URL_TEXT } }],
    [sendTest, { id }],
    [resume, { id }],
    [remove, { method: "DELETE", id }],
  ] as const)
    expect(await stranger(handler, call)).toMatchObject({ status: 401 });
  for (const handler of [sendTest, resume]) expect(await eve(handler, { id })).toMatchObject({ status: 404 });
  expect(await eve(remove, { method: "DELETE", id })).toMatchObject({ status: 404 });
  expect((await eve(list, { method: "GET" })).data.items).toEqual([]);
  expect((await ann(list, { method: "GET" })).data.items).toHaveLength(1);
});

test("an address that may not be called is refused at its field; one that the operator allows is taken", async () => {
  const bea = await signIn("bea");
  for (const url of [
    "",
    "hooks",
    "http://hooks.example.com",
    "https://10.0.0.1/",
    `https://a.example/${"x".repeat(WEBHOOK_URL_MAX_CHARACTERS)}`,
  ])
    expect(await bea(add, { body: { url } })).toMatchObject({
      status: 400,
      message: "invalid_parameter",
      data: { parameter: "url" },
    });
  const { data } = await bea(add, { body: { url: "http://hooks.internal:8080/" } });
  expect(data.webhook).toMatchObject({ url: "http://hooks.internal:8080/" });
});

test("adding needs a fresh proof", async () => {
  const cat = await signIn("cat", DAY_MS);
  expect(await cat(add, { body: { url: URL_TEXT } })).toMatchObject({ message: "proof_required" });
});

test("adding and tests are limited for each account", async () => {
  const dan = await signIn("dan");
  const { id } = (await dan(add, { body: { url: URL_TEXT } })).data.webhook;
  const answers: number[] = [];
  for (let count = 0; count < 5; count += 1) answers.push((await dan(sendTest, { id })).status);
  expect(answers).toEqual([200, 200, 200, 429, 429]);
  for (let count = 0; count < 12; count += 1) answers.push((await dan(add, { body: { url: "https://10.0.0.1/" } })).status);
  expect(answers.slice(-1)).toEqual([429]);
  const eva = await signIn("eva");
  expect(await eva(add, { body: { url: URL_TEXT } })).toMatchObject({ status: 200 });
});
