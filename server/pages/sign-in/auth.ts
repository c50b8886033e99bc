import NextAuth from "next-auth";
import { clientBlock } from "#lib/access/address";
import { Fault, isFault } from "#lib/fault";
import { readBody } from "#lib/http/input";
import { requestIdOf } from "#lib/http/request-id";
import { type AnswerHeaders, failureOf, faultOf, jsonHeaders, toResponse } from "#lib/http/respond";
import { letNextAuthReadItsOrigin } from "#server/env";
import { requireOwnOrigin } from "#server/pages/route";
import { type PortalRuntime, portal } from "#server/pages/runtime";
import { ownOrigin, visitorOf } from "#server/pages/visitor";
import { requireAction } from "./auth-actions";
import { authOptions } from "./auth-options";
import { callbackPath, ownCookie, readCookies, readOwnCookie } from "./cookies";
import { ceremonyOf } from "./passkey-ceremony";
import { claimedSession } from "./session-user";
import { knownBrowserCookie, readStep, stepCookie } from "./signed-cookies";

interface AuthContext {
  readonly params: Promise<{ readonly nextauth: readonly string[] }>;
}

/** The part of a Node response that next-auth writes to, backed by a Web Response. */
function createReply() {
  const headers = new Headers({ "cache-control": "no-store" });
  let status = 200;
  let body: string | null = null;
  let isJson = false;
  const reply = {
    status(code: number) {
      status = code;
      return reply;
    },
    getHeader: (name: string) => (name.toLowerCase() === "set-cookie" ? headers.getSetCookie() : headers.get(name)),
    setHeader(name: string, value: string | readonly string[]) {
      headers.delete(name);
      for (const one of typeof value === "string" ? [value] : value) headers.append(name, one);
      return reply;
    },
    json(value: unknown) {
      headers.set("content-type", "application/json");
      body = JSON.stringify(value);
      isJson = status < 400 || (typeof value === "object" && value !== null && "url" in value);
    },
    send(value: unknown) {
      if (typeof value === "string" || value === undefined) body = value ?? null;
      else reply.json(value);
    },
    end: () => undefined,
  };
  /** The response: a redirect, or JSON. @throws Fault invalid_parameter for what next-auth answers as text or as a failure */
  const toAnswer = () => {
    if (isJson || headers.has("location")) return new Response(body, { status, headers });
    throw new Fault("invalid_parameter", { detail: "The sign-in service cannot handle this request." });
  };
  return { reply, toAnswer };
}

async function formOf(request: Request): Promise<Record<string, unknown> | undefined> {
  if (request.method !== "POST") return undefined;
  const text = await readBody(request);
  if (!request.headers.get("content-type")?.includes("application/json")) return Object.fromEntries(new URLSearchParams(text));
  try {
    const value: unknown = JSON.parse(text);
    // next-auth expects the fields of a form, and fails on a number or a list.
    return Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => typeof field === "string"));
  } catch {
    return {};
  }
}

async function answer(
  request: Request,
  { params }: AuthContext,
  running: PortalRuntime,
  headers: AnswerHeaders,
): Promise<Response> {
  requireOwnOrigin(request, running);
  const { env, users } = running;
  const { nextauth } = await params;
  // Next answers HEAD from the handler of GET.
  const method = request.method === "HEAD" ? "GET" : request.method;
  requireAction(method, nextauth, env, headers);
  const visitor = visitorOf(running, request.headers);
  users.attempts.takeHere("portal", clientBlock(visitor.address));
  letNextAuthReadItsOrigin();
  const cookieHeader = request.headers.get("cookie");
  const origin = new URL(ownOrigin(env, request.headers));
  const { reply, toAnswer } = createReply();
  const asked = {
    method,
    query: { ...Object.fromEntries(new URL(request.url).searchParams), nextauth: [...nextauth] },
    cookies: readCookies(cookieHeader),
    body: await formOf(request),
    // Only values we set ourselves: anything a client sent under these names is dropped.
    headers: { "x-forwarded-host": origin.host, "x-forwarded-proto": origin.protocol.slice(0, -1) },
  };
  const claimed = await claimedSession(cookieHeader, running);
  const kept: string[] = [];
  const options = authOptions({
    running,
    visitor,
    claimed,
    ceremony: ceremonyOf(running, request.headers),
    step: readStep(running, cookieHeader),
    entry: readOwnCookie(env, "entry", cookieHeader),
    next: callbackPath(env, cookieHeader),
    onStep: (step) => kept.push(stepCookie(running, step)),
    onSignIn: (userId) => kept.push(knownBrowserCookie(running, userId), ownCookie(env, "step", ""), ownCookie(env, "entry", "")),
  });
  await NextAuth(asked as never, reply as never, options);
  const response = toAnswer();
  for (const name of ["x-request-id", "x-content-type-options"]) response.headers.set(name, headers[name] ?? "");
  for (const cookie of kept) response.headers.append("set-cookie", cookie);
  return response;
}

/**
 * Everything under /api/auth: the endpoints of next-auth (csrf, providers, signin, callback, session, signout) on the
 * portal's own origin, behind the portal's guards. Redirects and JSON of next-auth pass; every failure is an envelope.
 */
export async function handleAuth(request: Request, context: AuthContext): Promise<Response> {
  const headers = jsonHeaders(requestIdOf(request.headers.get("x-request-id")));
  let running: PortalRuntime | undefined;
  try {
    running = portal();
    return await answer(request, context, running, headers);
  } catch (error) {
    if (!isFault(error) && faultOf(error).id === "internal_error")
      running?.log.error({ err: error, request_id: headers["x-request-id"] }, "sign-in request failed");
    return toResponse(failureOf(error, headers, running?.env.PUBLIC_URL ?? ""));
  }
}
