import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox, tokenIn } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor, type Visitor } from "./visitor";

const PASSWORD = "correct horse battery";
const OTHER = "another long password";

describe("accounts of a product with a mail server", () => {
  let mailbox: Mailbox;
  let product: Product;
  let visitors = 0;
  const visit = (to = product): Visitor => createVisitor(to.baseUrl, `203.0.113.${++visitors}`);
  const isIn = async (visitor: Visitor) => (await visitor.call("GET", "sessions")).status === 200;
  beforeAll(async () => {
    mailbox = await openMailbox();
    product = await startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", MAIL_FROM: "portal@spotwire.example" });
  }, SERVER_TIMEOUT_MS);
  afterAll(async () => {
    await product?.dispose();
    await mailbox?.close();
  }, SERVER_TIMEOUT_MS);

  test("accounts are created, verified by email, signed in to and out of", async () => {
    const email = "ada@example.com";
    const ada = visit();
    expect(await ada.call("POST", "sign-up", { email, password: PASSWORD, name: "Ada" })).toMatchObject({
      status: 200,
      data: {},
    });
    const link = await mailbox.nextLink(email, "/verify");
    expect(link).toMatch(`${product.baseUrl}/verify#`);
    expect((await ada.call("POST", "verify", { token: tokenIn(link) })).data).toEqual({
      email,
      waiting_for: null,
      entry: "ready",
    });
    expect(await ada.signIn(email, "not the password")).toBe("CredentialsSignin");
    expect(await isIn(ada)).toBe(false);
    expect(await ada.signIn(email, PASSWORD)).toBeNull();
    const { items } = (await ada.call("GET", "sessions")).data;
    expect(items).toMatchObject([{ current: true, address: "203.0.113.0/24" }]);
    await ada.signOut();
    expect(await isIn(ada)).toBe(false);
  });

  test("a new password is set by email, which ends every session", async () => {
    const email = "grace@example.com";
    const grace = visit();
    await grace.call("POST", "sign-up", { email, password: PASSWORD });
    expect(await grace.signIn(email, PASSWORD)).toBeNull();
    await visit().call("POST", "forgot", { email });
    const link = await mailbox.nextLink(email, "/reset");
    const token = tokenIn(link);
    expect((await visit().call("POST", "reset", { token, password: OTHER })).status).toBe(200);
    expect(await isIn(grace)).toBe(false);
    expect(await grace.signIn(email, OTHER)).toBeNull();
    expect((await visit().call("POST", "reset", { token, password: PASSWORD })).status).toBe(400);
  });

  test("a forged client address in the header that pages read is ignored", async () => {
    const visitor = visit();
    const email = "alan@example.com";
    await visitor.call("POST", "sign-up", { email, password: PASSWORD });
    await visitor.signIn(email, PASSWORD);
    const forged = createVisitor(product.baseUrl, "198.51.100.77");
    const { csrfToken } = (await (await fetch(`${product.baseUrl}/api/auth/csrf`)).json()) as { csrfToken: string };
    expect(csrfToken).toMatch(/^[0-9a-f]{64}$/);
    await forged.signIn(email, PASSWORD);
    const { items } = (await forged.call("GET", "sessions", {}, { "x-spotwire-address": "192.0.2.1" })).data;
    expect((items as { address: string }[]).map(({ address }) => address)).toEqual(["198.51.100.0/24", "203.0.113.0/24"]);
  });

  test("changes by a page of another site are refused, and production has no outbox page", async () => {
    const refused = await visit().call("POST", "forgot", { email: "ada@example.com" }, { origin: "https://evil.example" });
    expect(refused).toMatchObject({ status: 403, message: "origin_not_allowed" });
    expect((await fetch(`${product.baseUrl}/outbox`)).status).toBe(404);
  });

  test("the first operator is appointed on the command line only", async () => {
    const admin = (...args: string[]) => runCommand(product, "admin", args);
    expect(await admin("grant", "nobody@example.com")).toMatchObject({
      exitCode: 2,
      output: expect.stringContaining("No user has the address"),
    });
    expect(await admin("grant", "ada@example.com")).toMatchObject({ exitCode: 0 });
    expect((await admin("list")).output).toContain("ada@example.com");
  });

  test(
    "users stay signed in after a restart, with a secret in the data directory that others cannot read",
    async () => {
      const visitor = visit();
      await visitor.call("POST", "sign-up", { email: "kay@example.com", password: PASSWORD });
      await visitor.signIn("kay@example.com", PASSWORD);
      expect(await readdir(product.dataDir)).toContain("nextauth-secret");
      expect((await stat(join(product.dataDir, "nextauth-secret"))).mode & 0o777).toBe(0o600);
      await product.stop();
      product = await product.restart();
      const again = visit();
      for (const [name, value] of visitor.cookies) again.cookies.set(name, value);
      expect(await isIn(again)).toBe(true);
      expect(product.output()).not.toContain(PASSWORD);
    },
    SERVER_TIMEOUT_MS,
  );
});
