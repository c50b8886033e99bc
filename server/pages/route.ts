import { Readable } from "node:stream";
import { z } from "zod";
import { clientBlock } from "#lib/access/address";
import { requireAccess } from "#lib/access/principal";
import type { PortalUser } from "#lib/contract/portal";
import type { Right } from "#lib/contract/roles";
import { Fault, isFault } from "#lib/fault";
import { bearerOf } from "#lib/http/guards";
import { isKept, readInput } from "#lib/http/input";
import { requestIdOf } from "#lib/http/request-id";
import { type AnswerHeaders, failureOf, faultOf, jsonHeaders, successBody, toResponse } from "#lib/http/respond";
import { sessionUser } from "#server/pages/sign-in/session-user";
import { isOperators } from "#server/store/access/key-owner";
import type { Visitor } from "#server/store/users/context";
import { requireRight } from "#server/store/users/members";
import { requireOperator } from "#server/store/users/operators";
import { requireProof } from "#server/store/users/proof";
import { noteDenial } from "./denial";
import { type PortalRuntime, portal } from "./runtime";
import { ownOrigin, visitorOf } from "./visitor";

/**
 * Who may call a route: anyone, a signed-in user about themselves, a member of an organisation whose role has the right,
 * operators, or operators and their keys for billing.
 */
type Admission = "none" | "self" | Right | "operator" | "billing";

/** The method of a route, and its path below /api/portal; a part in brackets is a parameter. */
type RouteName = `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

/** The parameters of a path: `"id"` of `"/keys/[id]/rotate"`. */
type ParamsOf<Path extends string> = Path extends `${string}[${infer Param}]${infer Rest}` ? Param | ParamsOf<Rest> : never;

/** The input of a handler of the portal's JSON API. */
interface PortalCall<Input, Admitted extends Admission, Param extends string> {
  /** The query of a GET or the JSON body of any other request, parsed by the schema. */
  readonly input: Input;
  readonly user: Admitted extends "none" | "billing" ? PortalUser | undefined : PortalUser;
  readonly request: Request;
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<Param, string>>;
  readonly running: PortalRuntime;
  /** The client's address and browser, and the base URL of links in emails. */
  readonly visitor: Visitor;
  /** Adds a Set-Cookie header to a success. */
  readonly keepCookie: (header: string) => void;
}

interface RouteOptions<Input, Admitted extends Admission> {
  /** Refuses unknown fields. Without a schema a request takes no fields. */
  readonly input?: z.ZodType<Input>;
  readonly user: Admitted;
  /** True for a body that is no JSON: `input` is then of the query, and the handler reads the body. */
  readonly raw?: boolean;
  /** Whether it needs a fresh proof; unless given, what operators change does. */
  readonly proof?: boolean;
}

type Handler<Input, Admitted extends Admission, Param extends string> = (
  call: PortalCall<Input, Admitted, Param>,
) => Promise<object | Response> | object | Response;

/** One route of the portal's JSON API. */
export interface PortalRoute<Name extends RouteName = RouteName> {
  readonly name: Name;
  readonly user: Admission;
  /** Answers a request. `params` are the path parameters as sent, still percent-encoded. */
  readonly answer: (request: Request, params: Readonly<Record<string, string>>) => Promise<Response>;
}

/**
 * Refuses a change that a page of another site sends with the user's cookies.
 * @throws Fault origin_not_allowed
 */
export function requireOwnOrigin(request: Request, running: PortalRuntime): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  if (request.headers.get("origin") === ownOrigin(running.env, request.headers)) return;
  const where = running.env.PUBLIC_URL === undefined ? "" : ` Its address is ${running.env.PUBLIC_URL}.`;
  throw new Fault("origin_not_allowed", { detail: `Changes are accepted from the portal's own pages only.${where}` });
}

/**
 * @throws Fault unauthorized without a sign-in; not_found for a non-operator, as for a path that does not exist;
 * second_factor_required for an operator without one, and where the organisation requires it; role_required
 */
function admit(admission: Admission, user: PortalUser | undefined): void {
  if (admission === "none") return;
  if (user === undefined) throw new Fault("unauthorized", { detail: "Sign in first." });
  if (admission === "operator" || admission === "billing") requireOperator(user);
  else if (admission !== "self") requireRight(user, admission);
}

/**
 * Requires a key that may read the usage of all accounts, and still belongs to operators.
 * @throws Fault unauthorized, rate_limited, and those of requireAccess
 */
async function admitKey({ access, db }: PortalRuntime, text: string, request: Request, address: string): Promise<void> {
  const principal = await access.verify(text, address);
  requireAccess(principal, "billing:read", "Usage of all accounts", { origin: request.headers.get("origin"), address });
  if (!(await isOperators(db.prisma, principal.accountId))) throw new Fault("not_found");
}

/** @throws Fault not_found for text that cannot be decoded or stored: nothing has such a name, and PostgreSQL would reject the query */
function paramOf(sent: string): string {
  try {
    const text = decodeURIComponent(sent);
    if (isKept(text)) return text;
  } catch {
    // The same as any other name that nothing has.
  }
  throw new Fault("not_found");
}

/** Prisma's code for a record that a query requires and that is not there. */
const NO_RECORD = "P2025";

/** Makes the function that answers a route's requests; see portalHandler. */
function answerer<Input, Admitted extends Admission, Param extends string>(
  { input: schema, user: admission, raw = false, proof }: RouteOptions<Input, Admitted>,
  handle: Handler<Input, Admitted, Param>,
): PortalRoute["answer"] {
  // Input is an empty object for a route without a schema.
  const inputSchema = schema ?? (z.strictObject({}) as unknown as z.ZodType<Input>);

  async function answer(
    request: Request,
    sent: Readonly<Record<string, string>>,
    running: PortalRuntime,
    headers: Headers,
  ): Promise<object | Response> {
    requireOwnOrigin(request, running);
    const visitor = visitorOf(running, request.headers);
    running.users.attempts.takeHere("portal", clientBlock(visitor.address));
    const key = admission === "billing" ? bearerOf(request.headers.get("authorization")) : null;
    const user = key === null ? await sessionUser(request.headers.get("cookie"), running) : undefined;
    try {
      if (key === null) admit(admission, user);
      else await admitKey(running, key, request, visitor.address);
    } catch (error) {
      if (user !== undefined) noteDenial(running, user, new URL(request.url).pathname, visitor.address);
      throw error;
    }
    // Before the proof: nobody is to type a password for a form that is refused anyway.
    const input = await readInput(raw ? new Request(request.url) : request, inputSchema);
    const needsProof = proof ?? (admission === "operator" && request.method !== "GET");
    if (user !== undefined && needsProof) requireProof(user, running.clock);
    const params = Object.fromEntries(Object.entries(sent).map(([name, text]) => [name, paramOf(text)]));
    return handle({
      input,
      user: user as PortalCall<Input, Admitted, Param>["user"],
      request,
      params: params as Record<Param, string>,
      running,
      visitor,
      keepCookie: (header) => headers.append("set-cookie", header),
    });
  }

  return async (request, params) => {
    const headers: AnswerHeaders = {
      ...jsonHeaders(requestIdOf(request.headers.get("x-request-id"))),
      "cache-control": "no-store",
    };
    let running: PortalRuntime | undefined;
    try {
      running = portal();
      const answerHeaders = new Headers(headers);
      const attempt = answer.bind(undefined, request, params, running, answerHeaders);
      // Between the session and what it leads to, the organisation can go: its last member accepts an invitation. Then the session
      // leads elsewhere now.
      const data = await attempt().catch((error: unknown) => {
        if (request.method !== "GET" || (error as { code?: unknown }).code !== NO_RECORD) throw error;
        return attempt();
      });
      return data instanceof Response ? data : new Response(successBody(data), { headers: answerHeaders });
    } catch (error) {
      if (!isFault(error) && faultOf(error).id === "internal_error")
        running?.log.error({ err: error, request_id: headers["x-request-id"] }, "portal request failed");
      const response = toResponse(failureOf(error, headers, running?.env.PUBLIC_URL ?? ""));
      // API keys work in one place here, and no browser asks for them.
      response.headers.delete("www-authenticate");
      return response;
    }
  };
}

/**
 * Makes a route handler with the portal's guards: origin check, sign-in, input, envelope. An object from `handle` becomes the
 * data of a success; a Response is passed through. Every other response is an envelope with a request id.
 */
export function portalHandler<Input = Record<string, never>, const Admitted extends Admission = Admission>(
  options: RouteOptions<Input, Admitted>,
  handle: Handler<Input, Admitted, never>,
): (request: Request) => Promise<Response> {
  const answer = answerer(options, handle);
  return (request) => answer(request, {});
}

/** Makes a route of the portal's JSON API, with the guards of portalHandler. */
export function portalRoute<
  const Name extends RouteName,
  Input = Record<string, never>,
  const Admitted extends Admission = Admission,
>(name: Name, options: RouteOptions<Input, Admitted>, handle: Handler<Input, Admitted, ParamsOf<Name>>): PortalRoute<Name> {
  return { name, user: options.user, answer: answerer(options, handle) };
}

/** A CSV file to download, whole or in parts, of which the next is made when the last was read. @param name without its ending */
export function csvResponse(csv: string | AsyncIterable<string>, name: string): Response {
  const body = typeof csv === "string" ? csv : (Readable.toWeb(Readable.from(csv, { objectMode: false })) as ReadableStream);
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
  });
}
