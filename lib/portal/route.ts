import { z } from "zod";
import { clientBlock } from "#lib/access/address";
import type { Visitor } from "#lib/access/users/context";
import type { PortalUser } from "#lib/contract/portal";
import { Fault, isFault } from "#lib/fault";
import { requestIdOf } from "#lib/http/request-id";
import { type AnswerHeaders, failureOf, faultOf, jsonHeaders, successBody, toResponse } from "#lib/http/respond";
import { type Runtime, runtime } from "#lib/runtime";
import { isKept, readInput } from "./input";
import { sessionUser } from "./session-user";
import { ownOrigin, visitorOf } from "./visitor";

/** Who may call a route: anyone, whoever is signed in, operators alone. */
type Admission = "none" | "required" | "operator";

/** What a handler of the portal's JSON interface is told. */
interface PortalCall<Input, Admitted extends Admission = "none"> {
  /** The query of a GET, the JSON of any other request, as the schema has it. */
  readonly input: Input;
  readonly user: Admitted extends "none" ? PortalUser | undefined : PortalUser;
  readonly request: Request;
  /** The variable parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly running: Runtime;
  /** The client's address. */
  readonly address: string;
  readonly userAgent: string;
  /** Both, with what links in mails start with. */
  readonly visitor: Visitor;
}

interface RouteOptions<Input, Admitted extends Admission> {
  /** Refuses every field that it does not know; without it a request carries none. */
  readonly input?: z.ZodType<Input>;
  readonly user: Admitted;
}

interface RouteContext {
  /** Next gives undefined for a path without variable parts. */
  readonly params: Promise<Readonly<Record<string, string | string[]>> | undefined>;
}

type Handler<Input, Admitted extends Admission> = (
  call: PortalCall<Input, Admitted>,
) => Promise<object | Response> | object | Response;

/**
 * Refuses a change that a page of another site asks for with the reader's cookies.
 * @throws Fault origin_not_allowed
 */
export function requireOwnOrigin(request: Request, running: Runtime): void {
  if (request.method === "GET") return;
  if (request.headers.get("origin") === ownOrigin(running.env, request.headers)) return;
  throw new Fault("origin_not_allowed", { detail: "Changes are taken from the portal's own pages alone." });
}

/** @throws Fault unauthorized for who is not signed in; not_found, as for a path that is not there, for who is no operator */
function admit(admission: Admission, user: PortalUser | undefined): void {
  if (admission === "none") return;
  if (user === undefined) throw new Fault("unauthorized", { detail: "Sign in first." });
  if (admission === "operator" && !user.operator) throw new Fault("not_found");
}

/**
 * Makes a route handler of the portal's JSON interface: own origin, sign-in, input, envelope. A handler's object becomes the
 * data of a success; a Response of its own passes as it is. Whatever happens, the answer is an envelope with a request id.
 */
export function portalRoute<Input = Record<string, never>, const Admitted extends Admission = Admission>(
  { input: schema, user: admission }: RouteOptions<Input, Admitted>,
  handle: Handler<Input, Admitted>,
): (request: Request, context: RouteContext) => Promise<Response> {
  // A route without a schema takes an empty object, which is what Input is then.
  const inputSchema = schema ?? (z.strictObject({}) as unknown as z.ZodType<Input>);

  async function answer(request: Request, { params }: RouteContext, running: Runtime): Promise<object | Response> {
    requireOwnOrigin(request, running);
    const visitor = visitorOf(running.env, request.headers);
    const { address, userAgent } = visitor;
    running.users.attempts.takeHere("portal", clientBlock(address));
    const user = await sessionUser(request.headers.get("cookie"), running);
    admit(admission, user);
    const input = await readInput(request, inputSchema);
    const known = Object.fromEntries(Object.entries((await params) ?? {}).map(([name, value]) => [name, String(value)]));
    // No name or id is written so, and a database would not take it even to look it up.
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
    });
  }

  return async (request, context) => {
    const headers: AnswerHeaders = {
      ...jsonHeaders(requestIdOf(request.headers.get("x-request-id"))),
      "cache-control": "no-store",
    };
    let running: Runtime | undefined;
    try {
      running = runtime();
      const data = await answer(request, context, running);
      return data instanceof Response ? data : new Response(successBody(data), { headers });
    } catch (error) {
      if (!isFault(error) && faultOf(error).id === "internal_error")
        running?.log.error({ err: error, request_id: headers["x-request-id"] }, "portal request failed");
      const response = toResponse(failureOf(error, headers, running?.env.PUBLIC_URL ?? ""));
      // A key is no way in here.
      response.headers.delete("www-authenticate");
      return response;
    }
  };
}
