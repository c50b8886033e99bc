import { TOTP } from "otpauth";
import { expect } from "vitest";
import { TOTP_PERIOD_S } from "#lib/contract/second-factor";
import { type Mailbox, tokenIn } from "./mailbox";

/** An answer of the portal. */
interface PortalAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly message: string;
  readonly data: Record<string, unknown>;
}

/** A person on a page of the portal, with their own cookies and address. */
export interface Visitor {
  readonly cookies: Map<string, string>;
  /** Calls the portal's API, below /api/portal. */
  call(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<PortalAnswer>;
  /** Turns an authenticator app on; resolves with its secret. Its next code can still be used. */
  addApp(): Promise<string>;
  /** Signs in; resolves to the `error` of the page it leads to, null on success. */
  signIn(email: string, password: string): Promise<string | null>;
  signOut(): Promise<void>;
}

/** The code that an authenticator app shows now, or so many codes later. */
export function codeOf(secret: string, later = 0): string {
  return new TOTP({ secret }).generate({ timestamp: Date.now() + later * TOTP_PERIOD_S * 1000 });
}

/** Makes a visitor to the product at `baseUrl`, which must trust 127.0.0.1 as a proxy. */
export function createVisitor(baseUrl: string, address: string): Visitor {
  const cookies = new Map<string, string>();

  async function send(method: string, path: string, type: string, body: BodyInit | undefined, headers = {}): Promise<Response> {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const own = { origin: baseUrl, cookie, "x-forwarded-for": address, ...(body !== undefined && { "content-type": type }) };
    const response = await fetch(baseUrl + path, {
      method,
      redirect: "manual",
      headers: { ...own, ...headers },
      ...(body !== undefined && { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  async function post(path: string, fields: Record<string, string>): Promise<URL> {
    const { csrfToken } = (await (await send("GET", "/api/auth/csrf", "", undefined)).json()) as { csrfToken: string };
    const form = new URLSearchParams({ ...fields, csrfToken, json: "true" });
    const response = await send("POST", `/api/auth/${path}`, "application/x-www-form-urlencoded", form);
    return new URL(((await response.json()) as { url: string }).url, baseUrl);
  }

  const call: Visitor["call"] = async (method, path, body = {}, headers = {}) => {
    const text = method === "GET" ? undefined : JSON.stringify(body);
    const response = await send(method, `/api/portal/${path}`, "application/json", text, headers);
    const envelope = (await response.json()) as Pick<PortalAnswer, "message" | "data">;
    return { ...envelope, status: response.status, headers: response.headers };
  };

  return {
    cookies,
    call,
    async addApp() {
      const secret = String((await call("POST", "second-factors/app")).data.secret);
      // A code is accepted in the step before it, too: the next one is left for signing in, however long this takes.
      const { status } = await call("PUT", "second-factors/app", { code: codeOf(secret) });
      if (status !== 200) throw new Error(`the authenticator app was refused with ${status}`);
      return secret;
    },
    async signIn(email, password) {
      const end = await post("callback/credentials", { email, password, callbackUrl: "/dashboard" });
      return end.searchParams.get("error");
    },
    async signOut() {
      await post("signout", { callbackUrl: "/" });
    },
  };
}

/** Where somebody signs up, and the mailbox that all mails of the product go to. */
interface SignUpPlace {
  readonly baseUrl: string;
  readonly mailbox: Pick<Mailbox, "nextLink">;
}

interface Person {
  readonly email: string;
  readonly password: string;
  readonly address: string;
  /** Accepts the terms, where there are some. */
  readonly terms?: true;
}

/** Somebody who signed up, verified the address and is signed in. */
export async function signUp({ baseUrl, mailbox }: SignUpPlace, { address, ...account }: Person): Promise<Visitor> {
  const visitor = createVisitor(baseUrl, address);
  expect(await visitor.call("POST", "sign-up", account)).toMatchObject({ status: 200 });
  await visitor.call("POST", "verify", { token: tokenIn(await mailbox.nextLink(account.email, "/verify")) });
  expect(await visitor.signIn(account.email, account.password)).toBeNull();
  return visitor;
}
