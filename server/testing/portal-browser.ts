import { encode } from "next-auth/jwt";
import { expect, vi } from "vitest";
import type { Clock } from "#lib/clock";
import type { CapturedMails } from "#lib/mail/captured-mails";
import { DAY_MS } from "#lib/units";
import { type PortalRouteName, portalApi } from "#server/pages/api";
import type { PortalRoute } from "#server/pages/route";
import { handleAuth } from "#server/pages/sign-in/auth";
import { ADDRESS_HEADER } from "#server/pages/visitor";
import { putAccount } from "#server/store/access/accounts";
import type { Database } from "#server/store/database/db";
import { openPortalSession } from "./portal-session";
import { type Answer, freshAddress, TEST_SECRET, type TestRuntime } from "./runtime";

/** URL of the portal in tests. */
export const PORTAL = "http://spotwire.test";

/** A route of the portal's JSON API by its name, or one of a test's own. */
export type Called = PortalRouteName | PortalRoute;

export interface Send {
  readonly body?: object;
  readonly query?: Record<string, string>;
  /** The parameters of the path. */
  readonly params?: Record<string, string>;
  /** In addition to those a browser sends; undefined omits one. */
  readonly headers?: Record<string, string | undefined>;
}

/** A browser with cookies on a page of the portal, with its own client address. */
export interface PortalBrowser {
  readonly address: string;
  readonly cookies: Map<string, string>;
  /** Calls a route of the portal. */
  request(route: Called, send?: Send): Promise<Response>;
  /** Calls a route of the portal's interface and reads the envelope. */
  send(route: Called, send?: Send): Promise<Answer>;
  /** Calls next-auth; a form makes it a POST. */
  auth(path: string, form?: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** The token that next-auth expects in each form. */
  csrfToken(): Promise<string>;
  /** Signs in with a password; resolves to the `error` in the redirect URL, null on success. */
  signIn(email: string, password: string): Promise<string | null>;
  /** Signs in with what another of our own ways takes, as `code` or `passkey`; resolves like signIn. */
  signInBy(way: "code" | "entry" | "passkey", given?: string): Promise<string | null>;
}

function keep(cookies: Map<string, string>, response: Response): void {
  for (const line of response.headers.getSetCookie()) {
    const [, name = "", value = "", attributes = ""] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
    if (value === "" || /max-age=0/i.test(attributes)) cookies.delete(name);
    else cookies.set(name, value);
  }
}

/** Opens a browser. */
export function portalBrowser(address = freshAddress()): PortalBrowser {
  const cookies = new Map<string, string>();

  function headersOf(more: Record<string, string | undefined> = {}): Headers {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const all = { host: new URL(PORTAL).host, origin: PORTAL, [ADDRESS_HEADER]: address, "user-agent": "test browser", cookie };
    const given = Object.entries({ ...all, ...more }).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return new Headers(given);
  }

  async function auth(path: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    const url = new URL(`/api/auth/${path}`, PORTAL);
    const init = form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) };
    const type = form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
    const request = new Request(url, { ...init, headers: headersOf({ ...type, ...headers }) });
    const nextauth = url.pathname.split("/").slice(3);
    const response = await handleAuth(request, { params: Promise.resolve({ nextauth }) });
    keep(cookies, response);
    return response;
  }

  async function csrfToken(): Promise<string> {
    return ((await (await auth("csrf")).json()) as { csrfToken: string }).csrfToken;
  }

  async function enter(way: string, given: Record<string, string>): Promise<string | null> {
    const form = { ...given, csrfToken: await csrfToken(), json: "true", callbackUrl: "/dashboard" };
    const { url } = (await (await auth(`callback/${way}`, form)).json()) as { url: string };
    return new URL(url, PORTAL).searchParams.get("error");
  }

  async function request(called: Called, { body, query = {}, params = {}, headers = {} }: Send = {}): Promise<Response> {
    const [method = "", path = ""] = (typeof called === "string" ? called : called.name).split(" ");
    const read = method === "GET";
    const filled = path.replace(/\[(\w+)\]/g, (_, name) => encodeURIComponent(params[name] ?? ""));
    const sent = new Request(`${PORTAL}/api/portal${filled}?${new URLSearchParams(query)}`, {
      method,
      headers: headersOf({ ...(!read && { "content-type": "application/json" }), ...headers }),
      ...(!read && { body: JSON.stringify(body ?? {}) }),
    });
    const response = await (typeof called === "string" ? portalApi(sent) : called.answer(sent, params));
    keep(cookies, response);
    return response;
  }

  return {
    address,
    cookies,
    auth,
    csrfToken,
    request,
    async send(route, send) {
      const response = await request(route, send);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const text = Buffer.from(bytes).toString();
      return { status: response.status, headers: response.headers, text, bytes, body: JSON.parse(text) };
    },
    signIn: (email, password) => enter("credentials", { email, password }),
    signInBy: (way, given = "") => enter(way, { [way]: given }),
  };
}

/** Calls a route about the thing with this id; resolves to the status and the fields of the envelope. */
export function callerOf(browser: PortalBrowser) {
  return async (route: Called, { id = "x", ...send }: Send & { readonly id?: string } = {}) => {
    const { status, body } = await browser.send(route, { ...send, params: { id } });
    return { status, ...body };
  };
}

interface SignedIn {
  readonly accountId: string;
  readonly browser: PortalBrowser;
}

/** A browser of a user with a new account, who proved who they are `provedAgoMs` ago and was active just now. */
export async function signedInBrowser(
  { db, clock, keyContext }: Pick<TestRuntime, "db" | "clock" | "keyContext">,
  name: string,
  { plan, provedAgoMs = 0 }: { plan?: string; provedAgoMs?: number } = {},
): Promise<SignedIn> {
  const { id: accountId } = await putAccount(keyContext, name, plan === undefined ? {} : { plan });
  const sid = await openPortalSession(db, accountId, clock.now());
  const data = { lastSeenAt: new Date(clock.now()), provedAt: new Date(clock.now() - provedAgoMs) };
  await db.prisma.portalSession.update({ where: { id: sid }, data });
  return { accountId, browser: await browserIn(sid) };
}

/** A browser in this session. */
async function browserIn(sid: string): Promise<PortalBrowser> {
  const browser = portalBrowser();
  browser.cookies.set("spotwire.session", await encode({ token: { sid }, secret: TEST_SECRET }));
  return browser;
}

/** A browser of this user, who proved who they are just now. */
export async function signedInAs(
  { db, clock }: { readonly db: Pick<Database, "prisma">; readonly clock: Clock },
  userId: string,
): Promise<PortalBrowser> {
  const now = new Date(clock.now());
  const data = { userId, provedAt: now, lastSeenAt: now, createdAt: now, expiresAt: new Date(clock.now() + DAY_MS) };
  return browserIn((await db.prisma.portalSession.create({ data })).id);
}

/** The token in the mail that a call has sent to an address, perhaps after its answer. */
export async function tokenMailedBy(outbox: CapturedMails, to: string, call: () => Promise<unknown>): Promise<string> {
  const before = mailedToken(outbox, to);
  await call();
  await vi.waitFor(() => expect(mailedToken(outbox, to)).not.toBe(before));
  return mailedToken(outbox, to);
}

/** The token in the link of the newest mail to an address. */
export function mailedToken(outbox: CapturedMails, to: string): string {
  const text = outbox.list().find((mail) => mail.to === to)?.text ?? "";
  return /token=([\w-]+)/.exec(text)?.[1] ?? "";
}
