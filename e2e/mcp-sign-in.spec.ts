import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type CertificateMaker, certificateMaker } from "#lib/testing/certificates";
import { BROWSER_TIMEOUT_MS, borrowBrowser, expectToBeLoaded, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { type Mailbox, openMailbox } from "./mailbox";
import { expectToFit } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { signUp } from "./visitor";

const PERSON = { email: "ada@example.test", password: "a password of ada 1815", address: "198.51.100.1" };
/** Several pages, each with the scripts of a form. */
const SCENE_MAX_MS = 4 * STEP_MAX_MS;
const COUNTED = { timeout: STEP_MAX_MS, interval: 250 };

let certificates: CertificateMaker | undefined;
let mailbox: Mailbox;
let product: Product;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** Site of the agents' host, which has their document, and the program on the reader's machine. */
let host: Server;
let program: Server;
/** What each of them was asked for. */
const asked: string[] = [];

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const site = () => `https://localhost:${portOf(host)}`;
const clientId = () => `${site()}/client.json`;
const hosted = () => `${site()}/callback`;
const local = () => `http://127.0.0.1:${portOf(program)}/callback`;

/** The site: the document, a page with a link to wherever its query says, and the page that readers return to. */
const answer: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://any");
  asked.push(pathname);
  if (pathname === "/client.json") {
    // The port of a program is not known in advance.
    const redirect_uris = [hosted(), "http://127.0.0.1/callback"];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ client_id: clientId(), client_name: "Analyst", redirect_uris }));
    return;
  }
  const link = searchParams.get("to")?.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  response.setHeader("content-type", "text/html");
  response.end(`<!doctype html><title>Host</title>${link === undefined ? "Done" : `<a href="${link}">Sign in</a>`}`);
};

async function listening<Listener extends Server>(server: Listener, name: string): Promise<Listener> {
  await once(server.listen(0, name), "listening");
  return server;
}

beforeAll(async () => {
  certificates = await certificateMaker();
  if (certificates === undefined) throw new Error("openssl is needed for the certificate of the agents' host");
  const { certFile, keyFile, caFile } = await certificates.issue("localhost");
  const tls = { cert: await readFile(certFile), key: await readFile(keyFile) };
  host = await listening(createHttpsServer(tls, answer) as unknown as Server, "localhost");
  program = await listening(createHttpServer(answer), "127.0.0.1");
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([
    startProduct({
      SMTP_URL: mailbox.url,
      TRUSTED_PROXIES: "127.0.0.1",
      WEBHOOK_ALLOWED_HOSTS: `localhost:${portOf(host)}`,
      NODE_EXTRA_CA_CERTS: caFile,
    }),
    borrowBrowser(),
  ]);
  await signUp({ baseUrl: product.baseUrl, mailbox }, PERSON);
  context = await browser.newContext({ ignoreHTTPSErrors: true });
  page = await context.newPage();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  for (const server of [host, program]) {
    server?.close();
    server?.closeAllConnections();
  }
  await Promise.all([product?.dispose(), mailbox?.close(), certificates?.close()]);
}, SERVER_TIMEOUT_MS);

beforeEach(() => {
  asked.length = 0;
});

/** An agent with the SDK's own client, which knows the URL of the endpoint and what its host is called, and nothing else. */
async function createAgent(redirectUrl: string) {
  const kept: { client?: unknown; tokens?: { access_token: string }; verifier?: string; signIn?: URL; found?: unknown } = {};
  const authProvider = {
    redirectUrl,
    clientMetadataUrl: clientId(),
    clientMetadata: { client_name: "Analyst", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
    state: () => "what the agent wants back",
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    redirectToAuthorization: (signIn: URL) => void Object.assign(kept, { signIn }),
    saveDiscoveryState: (found: unknown) => void Object.assign(kept, { found }),
    discoveryState: () => kept.found,
    // The SDK calls this after a token is refused, so that the next sign-in starts over.
    invalidateCredentials: () => void delete kept.tokens,
  } as unknown as OAuthClientProvider;
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", product.baseUrl), { authProvider });
  const client = new Client({ name: "an agent", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport as never);
  return {
    client,
    transport,
    kept,
    instruments: () => client.callTool({ name: "instruments", arguments: {} }),
    /** Calls a market tool without a token; resolves with the URL that the reader is sent to. */
    async askToSignIn(): Promise<URL> {
      await expect(client.callTool({ name: "instruments", arguments: {} })).rejects.toBeInstanceOf(UnauthorizedError);
      if (kept.signIn === undefined) throw new Error("the agent was not told where to sign in");
      return kept.signIn;
    },
  };
}

/** Follows a link on the site of the host, as its readers do: cookies that are for the portal's own pages alone are not sent. */
async function follow(url: URL): Promise<void> {
  await page.goto(`${site()}/?to=${encodeURIComponent(url.href)}`);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.waitForURL((there) => there.origin === product.baseUrl);
  await expectToBeLoaded(page);
}

async function signInHere(): Promise<void> {
  await page.getByLabel("Email").fill(PERSON.email);
  await page.getByLabel("Password", { exact: true }).fill(PERSON.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Presses a button on the consent page. @returns the parameters that the host gets */
async function decide(button: "Connect" | "Decline"): Promise<URLSearchParams> {
  await page.getByRole("button", { name: button }).click();
  await page.waitForURL((there) => there.pathname === "/callback");
  return new URL(page.url()).searchParams;
}

const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();

const exchange = (fields: Record<string, string>) =>
  fetch(`${product.baseUrl}/oauth/token`, { method: "POST", body: new URLSearchParams(fields) });

describe("an agent that knows the URL alone", () => {
  test(
    "reads lists and documentation, has its reader sign in for a market tool, and loses access when its key is revoked",
    async () => {
      const agent = await createAgent(local());
      expect((await agent.client.listTools()).tools.length).toBeGreaterThan(5);
      const found = await agent.client.callTool({ name: "searchDocs", arguments: { query: "klines" } });
      expect(found.isError).not.toBe(true);
      const signIn = await agent.askToSignIn();
      expect(signIn.origin + signIn.pathname).toBe(`${product.baseUrl}/connect`);
      expect(signIn.searchParams.get("resource")).toBe(`${product.baseUrl}/mcp`);

      // Nobody is signed in: the reader signs in and comes back, and until then no document was read.
      await follow(signIn);
      expect(new URL(page.url()).pathname).toBe("/signin");
      expect(asked).not.toContain("/client.json");
      await signInHere();
      await heading("Connect Analyst");
      await expectToBeLoaded(page);
      const main = page.getByRole("main");
      await main.getByText(`localhost:${portOf(host)}`, { exact: true }).waitFor();
      // The key goes to a program that anybody on this machine may have started.
      await main.getByText(`127.0.0.1:${portOf(program)}`, { exact: true }).waitFor();
      await expectToFit(page, "connect-local");
      await page.getByLabel("Expires").selectOption({ label: "In 30 days" });
      const given = await decide("Connect");
      expect([given.get("state"), given.get("iss")]).toEqual(["what the agent wants back", product.baseUrl]);

      await agent.transport.finishAuth(given);
      expect(agent.kept.tokens?.access_token).toMatch(/^sw_test_/);
      const { structuredContent } = await agent.instruments();
      expect(structuredContent).toMatchObject({ items: expect.arrayContaining([expect.anything()]) });

      await openPage(page, `${product.baseUrl}/dashboard/keys`);
      const row = page.getByRole("row", { name: /Analyst/ });
      await row.getByText(`Agent of localhost:${portOf(host)}`).waitFor();
      await row.getByText("Sandbox").waitFor();
      // Calls are counted and logged every two seconds.
      const read = (path: string) => page.request.get(`${product.baseUrl}/api/portal/${path}`).then((answer) => answer.text());
      await expect.poll(() => read("keys/use"), COUNTED).toMatch(/"calls":\[[^\]]*[1-9]/);
      await expect.poll(() => read("logs"), COUNTED).toContain("/api/v1/market/instruments");

      await openPage(page, `${product.baseUrl}/dashboard/keys`);
      await page.getByRole("button", { name: /^Actions for Analyst/ }).click();
      expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Edit", "Revoke"]);
      await page.getByRole("menuitem", { name: "Revoke" }).click();
      await page.getByRole("alertdialog").getByRole("textbox").fill("Analyst");
      await page.getByRole("button", { name: "Revoke key" }).click();
      await page.getByText("Analyst was revoked.").first().waitFor();
      Object.assign(agent.kept, { signIn: undefined });
      const ended = () =>
        agent.instruments().then(
          () => "in",
          (error: unknown) => error instanceof UnauthorizedError,
        );
      await expect.poll(ended, COUNTED).toBe(true);
      // The agent asks its reader again.
      expect(agent.kept.signIn?.pathname).toBe("/connect");
      await agent.client.close();
    },
    SCENE_MAX_MS,
  );

  test(
    "is told that its reader declined, by a link from its own site, and there is no key",
    async () => {
      const agent = await createAgent(hosted());
      const keys = async () => {
        const { data } = await (await page.request.get(`${product.baseUrl}/api/portal/keys`)).json();
        return data.items.map(({ id }: { id: string }) => id);
      };
      const before = await keys();
      await follow(await agent.askToSignIn());
      await heading("Connect Analyst");
      await expectToFit(page, "connect-hosted");
      const given = await decide("Decline");
      expect(Object.fromEntries(given)).toEqual({
        error: "access_denied",
        iss: product.baseUrl,
        state: "what the agent wants back",
      });
      await expect(agent.transport.finishAuth(given)).rejects.toThrow(/access_denied/);
      expect(await keys()).toEqual(before);
      await agent.client.close();
    },
    SCENE_MAX_MS,
  );

  test(
    "loses its key when its code is used twice",
    async () => {
      const agent = await createAgent(hosted());
      await follow(await agent.askToSignIn());
      await heading("Connect Analyst");
      const given = await decide("Connect");
      const fields = {
        grant_type: "authorization_code",
        code: given.get("code") ?? "",
        client_id: clientId(),
        redirect_uri: hosted(),
        code_verifier: agent.kept.verifier ?? "",
        resource: `${product.baseUrl}/mcp`,
      };
      expect(await (await exchange({ ...fields, code_verifier: "x".repeat(43) })).json()).toMatchObject({
        error: "invalid_grant",
      });
      await agent.transport.finishAuth(given);
      expect((await agent.instruments()).isError).not.toBe(true);
      const again = await exchange(fields);
      expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: "invalid_grant" })]);
      const call = () => agent.instruments().then(() => "in", String);
      await expect.poll(call, COUNTED).toMatch(/unauthorized/i);
      await agent.client.close();
    },
    SCENE_MAX_MS,
  );

  test.each([
    ["redirect_uri", () => "https://evil.test/callback", "redirect_uri is not one that the document of the client lists."],
    ["resource", () => "https://evil.test/mcp", "resource must be"],
    ["code_challenge_method", () => "plain", "code_challenge_method must be S256."],
    ["client_id", () => "https://10.0.0.7/client.json", "must be a public address"],
    ["client_id", () => `${site()}/callback`, "is not JSON"],
  ])(
    "gets nothing with another %s, and its reader reads why (%#)",
    async (parameter, value, words) => {
      const agent = await createAgent(hosted());
      const signIn = await agent.askToSignIn();
      signIn.searchParams.set(parameter, value());
      await follow(signIn);
      await heading("This agent cannot connect");
      await page.getByRole("main").getByText(words).waitFor();
      expect(new URL(page.url()).origin).toBe(product.baseUrl);
      await expectToFit(page, `connect-refused-${parameter}`);
      await agent.client.close();
    },
    SCENE_MAX_MS,
  );
});

describe("the documents of the sign-in", () => {
  const read = async (path: string) => {
    const response = await fetch(product.baseUrl + path);
    expect([response.status, response.headers.get("access-control-allow-origin")], path).toEqual([200, "*"]);
    return response.json();
  };

  test("say of the endpoint who signs in to it, and of that how, at the paths that RFC 9728 and RFC 8414 have", async () => {
    const { baseUrl } = product;
    const resource = await read("/.well-known/oauth-protected-resource/mcp");
    expect(resource).toMatchObject({ resource: `${baseUrl}/mcp`, authorization_servers: [baseUrl] });
    expect(await read("/.well-known/oauth-protected-resource")).toEqual(resource);
    expect(await read("/.well-known/oauth-authorization-server")).toMatchObject({
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/connect`,
      token_endpoint: `${baseUrl}/oauth/token`,
      code_challenge_methods_supported: ["S256"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
    const refused = await fetch(`${baseUrl}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "instruments", arguments: {} } }),
    });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp", scope="market:read"`,
    ]);
  });

  test("may be read by pages, which ask before they send headers, and take no other method", async () => {
    for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/oauth/token"]) {
      const preflight = await fetch(product.baseUrl + path, { method: "OPTIONS" });
      expect([preflight.status, preflight.headers.get("access-control-allow-headers")], path).toEqual([204, "*"]);
      expect((await fetch(product.baseUrl + path, { method: "DELETE" })).status, path).toBe(405);
    }
    expect((await fetch(`${product.baseUrl}/oauth/token`)).status).toBe(405);
  });
});
