import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import { allowed, methodFault } from "#lib/http/methods";
import { configuredProviders } from "./providers";

type Method = "GET" | "POST";

/** What the portal uses of next-auth. Everything else of it would answer with a page, or with nothing. */
const ACTIONS: Readonly<Record<string, readonly Method[]>> = {
  csrf: ["GET"],
  error: ["GET"],
  providers: ["GET"],
  session: ["GET"],
  signin: ["GET", "POST"],
  signout: ["GET", "POST"],
};
/** Our own ways to sign in: a form of our page, never a page of somebody else that returns here. */
const OWN_WAYS: readonly (string | undefined)[] = ["credentials", "code", "entry", "passkey"];

/** The methods of a path below /api/auth; undefined when there is none. */
function methodsOf([action = "", provider, ...more]: readonly string[], env: Env): readonly Method[] | undefined {
  if (more.length > 0) return undefined;
  const own = OWN_WAYS.includes(provider);
  const exists = own || configuredProviders(env).some(({ id }) => id === provider);
  if (action === "callback") return exists ? (own ? ["POST"] : ["GET", "POST"]) : undefined;
  if (provider !== undefined && (action !== "signin" || !exists)) return undefined;
  return Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
}

/**
 * @param path the segments after /api/auth
 * @throws Fault not_found for a path or provider that does not exist; method_not_allowed, after setting `headers.allow`
 */
export function requireAction(method: string, path: readonly string[], env: Env, headers: Record<string, string>): void {
  const methods = methodsOf(path, env);
  if (methods === undefined) throw new Fault("not_found", { detail: "No resource exists at this path." });
  if (methods.some((name) => name === method)) return;
  headers.allow = allowed(methods).join(", ");
  throw methodFault(method, allowed(methods));
}
