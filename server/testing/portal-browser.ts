import { expect, vi } from "vitest";
import type { CapturedMails } from "#lib/mail/captured-mails";
import { handleAuth } from "#lib/portal/auth";
import { ADDRESS_HEADER } from "#lib/portal/visitor";
import { type Answer, freshAddress } from "./runtime";

/** URL of the portal in tests. */
export const PORTAL = "http://spotwire.test";

type Handler = (request: Request, context: { params: Promise<Record<string, string> | undefined> }) => Promise<Response>;

interface Send {
  readonly method?: string;
  readonly body?: object;
  /** The variable parts of the path. */
  readonly params?: Record<string, string>;
  /** In addition to those a browser sends; undefined omits one. */
  readonly headers?: Record<string, string | undefined>;
}

/** A browser with cookies on a page of the portal, with its own client address. */
export interface PortalBrowser {
  readonly address: string;
  readonly cookies: Map<string, string>;
  /** Calls a route of the portal's interface and reads the envelope. */
  send(handler: Handler, send?: Send): Promise<Answer>;
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

  return {
    address,
    cookies,
    auth,
    csrfToken,
    async send(handler, { method = "POST", body, params, headers = {} } = {}) {
      const read = method === "GET";
      const request = new Request(`${PORTAL}/api/portal/x`, {
        method,
        headers: headersOf({ ...(!read && { "content-type": "application/json" }), ...headers }),
        ...(!read && { body: JSON.stringify(body ?? {}) }),
      });
      const response = await handler(request, { params: Promise.resolve(params) });
      keep(cookies, response);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    signIn: (email, password) => enter("credentials", { email, password }),
    signInBy: (way, given = "") => enter(way, { [way]: given }),
  };
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
