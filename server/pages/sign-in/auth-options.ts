import type { AuthOptions } from "next-auth";
import type { JWT } from "next-auth/jwt";
import { PORTAL_SESSION_LIMITS_S } from "#lib/contract/portal";
import { faultOf } from "#lib/http/respond";
import type { PortalRuntime } from "#server/pages/runtime";
import { secondStepOf } from "#server/store/users/second-factor";
import { endSession, findSessionUser, startSession } from "#server/store/users/sessions";
import { signInWithProvider } from "#server/store/users/sign-in";
import { cookieOptions, isSecure } from "./cookies";
import { ownCredentials, SECOND_FACTOR, type SignInCall } from "./credentials";
import { configuredProviders, identityOf, type ProviderProfile, provedAtMsOf } from "./providers";

/** Redirect target of a sign-in whose provider has not verified the email address. */
const UNVERIFIED = "/signin?error=email_not_verified";

/** Redirect target of a sign-in that failed on our side. next-auth would put the error message where the page expects its name. */
function refusedAt(error: unknown, { log }: PortalRuntime): string {
  const { id } = faultOf(error);
  if (id === "internal_error") log.error({ err: error }, "sign-in failed");
  return `/signin?error=${id}`;
}

/**
 * next-auth options for one request. The token carries only a user id and a portal session id; everything else is read from
 * the database each time. Every sign-in starts a new session and ends the browser's previous one.
 */
export function authOptions(call: SignInCall): AuthOptions {
  const { running, visitor, claimed, next, onStep, onSignIn } = call;
  const { env, users, log, secrets } = running;
  // Set by signIn and read by jwt, because next-auth itself knows only the provider's id of a user.
  let providerUser: string | undefined;
  let provedAtMs: number | undefined;

  return {
    secret: secrets.nextAuth,
    providers: [...ownCredentials(call), ...configuredProviders(env)],
    session: { strategy: "jwt", maxAge: PORTAL_SESSION_LIMITS_S.user.longest },
    cookies: cookieOptions(env),
    useSecureCookies: isSecure(env),
    pages: { signIn: "/signin", signOut: "/signin", error: "/signin" },
    logger: {
      error: (code, metadata) => log.warn({ code, reason: reasonOf(metadata) }, "sign-in problem"),
      warn: () => undefined,
      debug: () => undefined,
    },
    callbacks: {
      // A sign-in always leads to a page of the portal, whatever URL was requested.
      redirect: ({ url, baseUrl }) => (originOf(url, baseUrl) === baseUrl ? new URL(url, baseUrl).href : baseUrl),
      async signIn({ account, profile }) {
        if (account === null || account.type === "credentials") return true;
        const { provider, providerAccountId } = account;
        const person = profile as unknown as ProviderProfile;
        const identity = identityOf(env, provider, providerAccountId, person);
        provedAtMs = provedAtMsOf(provider, person, users.clock.now());
        try {
          providerUser = await signInWithProvider(users, identity, visitor);
          const step = providerUser === undefined ? undefined : await secondStepOf(users, providerUser);
          if (step !== undefined) {
            onStep(step);
            return `/signin?${new URLSearchParams({ error: SECOND_FACTOR, next })}`;
          }
        } catch (error) {
          return refusedAt(error, running);
        }
        return providerUser === undefined ? UNVERIFIED : true;
      },
      async jwt({ token, user, account }): Promise<JWT> {
        if (account) {
          const userId = account.type === "credentials" ? user.id : providerUser;
          if (userId === undefined) throw new Error("nobody signed in");
          if (claimed !== undefined) await endSession(users, claimed, visitor);
          onSignIn(userId);
          const method = account.provider === "credentials" ? "password" : account.provider;
          return { sub: userId, sid: await startSession(users, userId, visitor, { method, provedAtMs }) };
        }
        // Throwing makes next-auth clear the cookie of an ended session.
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
        if (typeof token?.sid === "string") await endSession(users, token.sid, visitor);
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
