import { z } from "zod";
import { clientBlock } from "#lib/access/address";
import type { Visitor } from "#lib/access/users/context";
import { requireOperator } from "#lib/access/users/operators";
import { requireProof } from "#lib/access/users/proof";
import type { PortalUser } from "#lib/contract/portal";
import { Fault, isFault } from "#lib/fault";
import { requestIdOf } from "#lib/http/request-id";
import { type AnswerHeaders, failureOf, faultOf, jsonHeaders, successBody, toResponse } from "#lib/http/respond";
import { noteDenial } from "./denial";
import { isKept, readInput } from "./input";
import { type PortalRuntime, portal } from "./runtime";
import { sessionUser } from "./session-user";
import { ownOrigin, visitorOf } from "./visitor";

/** Who may call a route: anyone, signed-in users, or operators. */
type Admission = "none" | "required" | "operator";

/** The input of a handler of the portal's JSON API. */
interface PortalCall<Input, Admitted extends Admission = "none"> {
  /** The query of a GET or the JSON body of any other request, parsed by the schema. */
  readonly input: Input;
  readonly user: Admitted extends "none" ? PortalUser | undefined : PortalUser;
  readonly request: Request;
  /** The variable parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly running: PortalRuntime;
  /** The client's address. */
  readonly address: string;
  readonly userAgent: string;
  /** Both, and the base URL of links in emails. */
  readonly visitor: Visitor;
  /** Adds a Set-Cookie header to a success. */
  readonly keepCookie: (header: string) => void;
}

interface RouteOptions<Input, Admitted extends Admission> {
  /** Refuses unknown fields. Without a schema a request takes no fields. */
  readonly input?: z.ZodType<Input>;
  readonly user: Admitted;
  /** Whether it needs a fresh proof; unless given, what operators change does. */
  readonly proof?: boolean;
}

interface RouteContext {
  /** Next gives undefined for a path without variable parts. */
  readonly params: Promise<Readonly<Record<string, string | string[]>> | undefined>;
}

type Handler<Input, Admitted extends Admission> = (
  call: PortalCall<Input, Admitted>,
) => Promise<object | Response> | object | Response;

/**
 * Refuses a change that a page of another site sends with the user's cookies.
 * @throws Fault origin_not_allowed
 */
export function requireOwnOrigin(request: Request, running: PortalRuntime): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  if (request.headers.get("origin") === ownOrigin(running.env, request.headers)) return;
  throw new Fault("origin_not_allowed", { detail: "Changes are accepted from the portal's own pages only." });
}

/**
 * @throws Fault unauthorized without a sign-in; not_found for a non-operator, as for a path that does not exist;
 * second_factor_required for an operator without one
 */
function admit(admission: Admission, user: PortalUser | undefined): void {
  if (admission === "none") return;
  if (user === undefined) throw new Fault("unauthorized", { detail: "Sign in first." });
  if (admission === "operator") requireOperator(user);
}

/**
 * Makes a route handler of the portal's JSON API: origin check, sign-in, input, envelope. An object from the handler becomes
 * the data of a success; a Response is passed through. Every other response is an envelope with a request id.
 */
export function portalRoute<Input = Record<string, never>, const Admitted extends Admission = Admission>(
  { input: schema, user: admission, proof }: RouteOptions<Input, Admitted>,
  handle: Handler<Input, Admitted>,
): (request: Request, context: RouteContext) => Promise<Response> {
  // Input is an empty object for a route without a schema.
  const inputSchema = schema ?? (z.strictObject({}) as unknown as z.ZodType<Input>);

  async function answer(
    request: Request,
    { params }: RouteContext,
    running: PortalRuntime,
    headers: Headers,
  ): Promise<object | Response> {
    requireOwnOrigin(request, running);
    const visitor = visitorOf(running, request.headers);
    const { address, userAgent } = visitor;
    running.users.attempts.takeHere("portal", clientBlock(address));
    const user = await sessionUser(request.headers.get("cookie"), running);
    try {
      admit(admission, user);
    } catch (error) {
      if (user !== undefined) noteDenial(running, user, new URL(request.url).pathname, address);
      throw error;
    }
    const needsProof = proof ?? (admission === "operator" && request.method !== "GET");
    if (user !== undefined && needsProof) requireProof(user, running.clock);
    const input = await readInput(request, inputSchema);
    const known = Object.fromEntries(Object.entries((await params) ?? {}).map(([name, value]) => [name, String(value)]));
    // Such text cannot be stored, and PostgreSQL would reject the query.
    if (!Object.values(known).every(isKept)) throw new Fault("not_found");
    return handle({
      input,
      user: user as PortalCall<Input, Admitted>["user"],
      request,
      params: known,
      running,
      address,
      userAgent,
      visitor,
      keepCookie: (header) => headers.append("set-cookie", header),
    });
  }

  return async (request, context) => {
    const headers: AnswerHeaders = {
      ...jsonHeaders(requestIdOf(request.headers.get("x-request-id"))),
      "cache-control": "no-store",
    };
    let running: PortalRuntime | undefined;
    try {
      running = portal();
      const answerHeaders = new Headers(headers);
      const data = await answer(request, context, running, answerHeaders);
      return data instanceof Response ? data : new Response(successBody(data), { headers: answerHeaders });
    } catch (error) {
      if (!isFault(error) && faultOf(error).id === "internal_error")
        running?.log.error({ err: error, request_id: headers["x-request-id"] }, "portal request failed");
      const response = toResponse(failureOf(error, headers, running?.env.PUBLIC_URL ?? ""));
      // API keys do not work here.
      response.headers.delete("www-authenticate");
      return response;
    }
  };
}
