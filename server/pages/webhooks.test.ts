import { afterAll, beforeAll, expect, test } from "vitest";
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
  const { data } = await ann("POST /webhooks", { body: { url: ` ${URL_TEXT} ` } });
  expect(data).toMatchObject({
    webhook: { url: URL_TEXT, paused_because: null, deliveries: [] },
    secret: expect.stringMatching(/^whsec_/),
  });
  const { id } = data.webhook;
  expect(await ann("POST /webhooks/[id]/test", { id })).toMatchObject({ status: 200 });
  expect(await ann("POST /webhooks/[id]/resume", { id })).toMatchObject({ status: 200 });
  const listed = (await ann("GET /webhooks")).data;
  expect(listed.items).toMatchObject([{ id, deliveries: [{ type: "webhook.test", state: "waiting", attempts: 0 }] }]);
  expect(JSON.stringify(listed)).not.toContain("whsec_");
  expect(await ann("DELETE /webhooks/[id]", { id })).toMatchObject({ status: 200 });
  expect((await ann("GET /webhooks")).data.items).toEqual([]);
});

test("nobody who is not signed in, and no other account, can see or change it", async () => {
  const [ann, eve, stranger] = [await signIn("owner"), await signIn("eve"), callerOf(portalBrowser())];
  const { id } = (await ann("POST /webhooks", { body: { url: URL_TEXT } })).data.webhook;
  for (const [route, call] of [
    ["GET /webhooks", {}],
    ["POST /webhooks", { body: { url: URL_TEXT } }],
    ["POST /webhooks/[id]/test", { id }],
    ["POST /webhooks/[id]/resume", { id }],
    ["DELETE /webhooks/[id]", { id }],
  ] as const)
    expect(await stranger(route, call)).toMatchObject({ status: 401 });
  for (const route of ["POST /webhooks/[id]/test", "POST /webhooks/[id]/resume"] as const)
    expect(await eve(route, { id })).toMatchObject({ status: 404 });
  expect(await eve("DELETE /webhooks/[id]", { id })).toMatchObject({ status: 404 });
  expect((await eve("GET /webhooks")).data.items).toEqual([]);
  expect((await ann("GET /webhooks")).data.items).toHaveLength(1);
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
    expect(await bea("POST /webhooks", { body: { url } })).toMatchObject({
      status: 400,
      message: "invalid_parameter",
      data: { parameter: "url" },
    });
  const { data } = await bea("POST /webhooks", { body: { url: "http://hooks.internal:8080/" } });
  expect(data.webhook).toMatchObject({ url: "http://hooks.internal:8080/" });
});

test("adding needs a fresh proof, which is not asked for a form that is refused anyway", async () => {
  const cat = await signIn("cat", DAY_MS);
  expect(await cat("POST /webhooks", { body: { url: "nowhere" } })).toMatchObject({
    message: "invalid_parameter",
    data: { parameter: "url" },
  });
  expect(await cat("POST /webhooks", { body: { url: URL_TEXT } })).toMatchObject({ message: "proof_required" });
});

test("adding and tests are limited for each account", async () => {
  const dan = await signIn("dan");
  const { id } = (await dan("POST /webhooks", { body: { url: URL_TEXT } })).data.webhook;
  const answers: number[] = [];
  for (let count = 0; count < 5; count += 1) answers.push((await dan("POST /webhooks/[id]/test", { id })).status);
  expect(answers).toEqual([200, 200, 200, 429, 429]);
  for (let count = 0; count < 12; count += 1)
    answers.push((await dan("POST /webhooks", { body: { url: "https://10.0.0.1/" } })).status);
  expect(answers.slice(-1)).toEqual([429]);
  const eva = await signIn("eva");
  expect(await eva("POST /webhooks", { body: { url: URL_TEXT } })).toMatchObject({ status: 200 });
});
