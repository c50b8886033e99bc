import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { signUp, type Visitor } from "./visitor";

const PASSWORD = "correct horse battery";
const PLAN = {
  rest_per_minute: 6_000,
  rest_burst: 1_000,
  stream_connections: 2,
  subscriptions_per_connection: 20,
  live_access: false,
  month_units: 5,
  month_hard: true,
  history_days: 7,
  streams: false,
  permissions: { kind: "tickers", values: ["EURUSD"] },
  price: "€ 5 a month",
  public: true,
};
/** Usage is written every two seconds. */
const COUNTED = { timeout: 60_000, interval: 250 };

let product: Product;
let mailbox: Mailbox;
let operator: Visitor;

const signUpAs = (email: string, address: string) =>
  signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address });

beforeAll(async () => {
  mailbox = await openMailbox();
  // With edge workers, which count by themselves.
  product = await startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", PLANS_PAGE: "public", WORKERS: "2" });
  operator = await signUpAs("operator@example.test", "198.51.100.1");
  expect((await runCommand(product, "admin", ["grant", "operator@example.test"])).exitCode).toBe(0);
  await operator.addApp();
}, SERVER_TIMEOUT_MS);

afterAll(async () => {
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

test("a hard quota holds over REST, its owner is told, and the usage of the month is in the CSV of operators", async () => {
  expect(await operator.call("PUT", "admin/plans/small", { ...PLAN, revision: null })).toMatchObject({ status: 200 });
  const customer = await signUpAs("customer@example.test", "198.51.100.2");
  const { items } = (await operator.call("GET", "admin/accounts?q=customer")).data as {
    items: { id: string; revision: number }[];
  };
  const moved = { plan: "small", revision: items[0]?.revision };
  expect(await operator.call("PATCH", `admin/accounts/${items[0]?.id}`, moved)).toMatchObject({ status: 200 });
  const settings = { name: "Shop", venue: "sandbox", scopes: ["market:read", "market:stream"], origins: [], expires_at: null };
  const key = String((await customer.call("POST", "keys", settings)).data.text);
  const ask = async (path: string) => {
    const response = await fetch(`${product.baseUrl}/api/v1/${path}`, bearer(key));
    return { status: response.status, body: (await response.json()) as { message: string; data: Record<string, unknown> } };
  };

  const quote = "market/quotes/latest?tickers=EURUSD";
  for (let call = 0; call < 5; call += 1) expect((await ask(quote)).status).toBe(200);
  // What the other process answered is known in all of them within a few seconds.
  await vi.waitFor(async () => {
    for (let call = 0; call < 4; call += 1)
      expect(await ask(quote)).toMatchObject({ status: 429, body: { message: "quota_exceeded" } });
  }, COUNTED);
  const refused = await ask(quote);
  expect(Date.parse(String(refused.body.data.resets_at))).toBeGreaterThan(Date.now());

  await vi.waitFor(async () => {
    const { month } = (await customer.call("GET", "overview")).data as { month: { used: number } };
    expect(month).toMatchObject({ units: 5, hard: true });
    expect(month.used).toBeGreaterThanOrEqual(5);
  }, COUNTED);

  const made = await runCommand(product, "keys", [
    "create",
    "--name",
    "Invoices",
    "--account",
    "billing",
    "--venue",
    "sandbox",
    "--scopes",
    "billing:read",
  ]);
  expect(made).toMatchObject({ exitCode: 0 });
  const billing = /sw_test_\w{20,}/.exec(made.output)?.[0] ?? "";
  const month = new Date().toISOString().slice(0, 7);
  const csv = await fetch(`${product.baseUrl}/api/portal/admin/usage?month=${month}&format=csv`, bearer(billing));
  expect(csv.status, billing).toBe(200);
  expect(csv.headers.get("content-disposition")).toBe(`attachment; filename="billing-${month}.csv"`);
  const { month: used } = (await customer.call("GET", "overview")).data as unknown as { month: { used: number } };
  expect(await csv.text()).toMatch(
    new RegExp(`^${month},,${items[0]?.id},[^,]*customer[^,]*,small,latestQuotes,\\d+,${used.used},0,0\\r$`, "m"),
  );
  expect((await fetch(`${product.baseUrl}/api/v1/${quote}`, bearer(billing))).status).toBe(403);
  expect((await fetch(`${product.baseUrl}/api/portal/admin/usage?month=${month}`, bearer(key))).status).toBe(403);
});

test("the page of plans shows the public ones and their prices, and not the others", async () => {
  const html = await (await fetch(`${product.baseUrl}/plans`)).text();
  expect(html).toContain("€ 5 a month");
  expect(html).toContain("7 days of history");
  expect(html).not.toContain("Standard");
  expect(await (await fetch(`${product.baseUrl}/sitemap.xml`)).text()).toContain("/plans</loc>");
});
