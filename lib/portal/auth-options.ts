import type { AuthOptions } from "next-auth";
import type { JWT } from "next-auth/jwt";
import Credentials from "next-auth/providers/credentials";
import type { Visitor } from "#lib/access/users/context";
import { endSession, findSessionUser, startSession } from "#lib/access/users/sessions";
import { checkSignIn, signInWithProvider } from "#lib/access/users/sign-in";
import { PORTAL_SESSION_LONGEST_S, SignInForm } from "#lib/contract/portal";
import { faultOf } from "#lib/http/respond";
import type { Runtime } from "#lib/runtime";
import { cookieOptions, isSecure } from "./cookies";
import { configuredProviders, identityOf, type ProviderProfile } from "./providers";

/** Where a sign-in ends whose provider does not vouch for the address. */
const UNVERIFIED = "/signin?error=email_not_verified";

/** Where a sign-in ends that failed on our side: next-auth would put the words of what was thrown where the page wants its name. */
function refusedAt(error: unknown, { log }: Runtime): string {
  const { id } = faultOf(error);
  if (id === "internal_error") log.error({ err: error }, "sign-in failed");
  return `/signin?error=${id}`;
}

/**
 * Who signs in with a password; null for a wrong one.
 * @throws Error with the identifier of a fault as its message, which next-auth hands to the sign-in page as `error`
 */
async function authorize(running: Runtime, visitor: Visitor, given: unknown): Promise<{ id: string } | null> {
  const { email, password } = (given ?? {}) as Record<string, unknown>;
  const form = SignInForm.safeParse({ email, password });
  if (!form.success) return null;
  try {
    const id = await checkSignIn(running.users, form.data, visitor);
    return id === undefined ? null : { id };
  } catch (error) {
    const fault = faultOf(error);
    if (fault.id === "internal_error") running.log.error({ err: error }, "sign-in failed");
    throw new Error(fault.id);
  }
}

/**
 * next-auth for one request. Its token carries a user id and the id of a portal session, no more: what counts is read from
 * the database each time. Every sign-in starts a session of its own and ends the one the browser had (`claimed`).
 */
export function authOptions(running: Runtime, visitor: Visitor, claimed: string | undefined): AuthOptions {
  const { env, users, log, secrets } = running;
  // Set by signIn, read by jwt: next-auth itself knows people by their provider's id.
  let providerUser: string | undefined;

  return {
    secret: secrets.nextAuth,
    providers: [
      Credentials({
        credentials: { email: { type: "email" }, password: { type: "password" } },
        authorize: (given) => authorize(running, visitor, given),
      }),
      ...configuredProviders(env),
    ],
    session: { strategy: "jwt", maxAge: PORTAL_SESSION_LONGEST_S },
    cookies: cookieOptions(env),
    useSecureCookies: isSecure(env),
    pages: { signIn: "/signin", signOut: "/signin", error: "/signin" },
    logger: {
      error: (code, metadata) => log.warn({ code, reason: reasonOf(metadata) }, "sign-in problem"),
      warn: () => undefined,
      debug: () => undefined,
    },
    callbacks: {
      // Where a sign-in leads: a page of the portal's own, whatever was asked for.
      redirect: ({ url, baseUrl }) => (originOf(url, baseUrl) === baseUrl ? new URL(url, baseUrl).href : baseUrl),
      async signIn({ account, profile }) {
        if (account === null || account.type === "credentials") return true;
        const { provider, providerAccountId } = account;
        const identity = identityOf(provider, providerAccountId, profile as unknown as ProviderProfile);
        try {
          providerUser = await signInWithProvider(users, identity, visitor);
        } catch (error) {
          return refusedAt(error, running);
        }
        return providerUser === undefined ? UNVERIFIED : true;
      },
      async jwt({ token, user, account }): Promise<JWT> {
        if (account) {
          const userId = account.type === "credentials" ? user.id : providerUser;
          if (userId === undefined) throw new Error("nobody signed in");
          if (claimed !== undefined) await endSession(users, claimed);
          return { sub: userId, sid: await startSession(users, userId, visitor) };
        }
        // A session that ended takes its cookie with it: what is thrown makes next-auth clear it.
        if ((await findSessionUser(users, String(token.sid))) === undefined) throw new Error("the session has ended");
        return { sub: token.sub ?? "", sid: token.sid };
      },
      async session({ session, token }) {
        const user = await findSessionUser(users, String(token.sid));
        return { expires: session.expires, user: { name: user?.name ?? null, email: user?.email ?? null } };
      },
    },
    events: {
      async signOut({ token }) {
        if (typeof token?.sid === "string") await endSession(users, token.sid);
      },
    },
  };
}

function originOf(url: string, base: string): string | undefined {
  return URL.canParse(url, base) ? new URL(url, base).origin : undefined;
}

function reasonOf(metadata: unknown): string {
  const error = metadata instanceof Error ? metadata : (metadata as { error?: unknown } | undefined)?.error;
  return error instanceof Error ? error.message : "unknown";
}
