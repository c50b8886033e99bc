import type { OAuthConfig } from "next-auth/providers/oauth";
import { Email, PORTAL_SESSION_LIMITS_S } from "#lib/contract/portal";
import type { Env } from "#lib/env";
import { SECOND_MS } from "#lib/units";
import type { ProviderIdentity } from "#server/store/users/sign-in";

const GITHUB_MAX_MS = 10_000;
/** What GitHub calls itself in its answers, which must match. */
const GITHUB_ISSUER = "https://github.com/login/oauth";
const GOOGLE_ISSUER = "https://accounts.google.com";

/** The provider of OIDC_ISSUER. It must say when a user authenticated there, as OpenID Connect demands of all; see `provedAtMsOf`. */
const TIMED_PROVIDER = "oidc";
/** With a limit to its age, the time of the authentication must be in the token (OpenID Connect Core, 2). */
const ASK_TIME = { max_age: String(PORTAL_SESSION_LIMITS_S.user.longest) };

type ProviderEnv = Pick<
  Env,
  | ("GITHUB_ID" | "GITHUB_SECRET" | "GOOGLE_ID" | "GOOGLE_SECRET")
  | ("OIDC_ISSUER" | "OIDC_CLIENT_ID" | "OIDC_CLIENT_SECRET" | "OIDC_NAME")
>;

/** What a provider reports about a user, under our own names. */
export interface ProviderProfile {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  /** When the user last authenticated there, Unix seconds. */
  readonly auth_time?: number;
}

/** A sign-in provider. */
export interface SignInChoice {
  /** For next-auth's `signIn(id)`. */
  readonly id: string;
  /** Name shown to users. */
  readonly name: string;
}

type Provider = OAuthConfig<ProviderProfile> & { readonly issuer: string };

interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The verified email address of a GitHub user, the primary one first; undefined without one. */
export function verifiedGithubEmail(emails: unknown): string | undefined {
  if (!Array.isArray(emails)) return undefined;
  const verified = emails.filter((entry) => entry?.verified === true && typeof entry.email === "string");
  return (verified.find(({ primary }) => primary === true) ?? verified[0])?.email;
}

async function askGithub(path: string, accessToken: string | undefined): Promise<unknown> {
  const response = await fetch(`https://api.github.com${path}`, {
    headers: { accept: "application/vnd.github+json", authorization: `Bearer ${accessToken}`, "user-agent": "spotwire" },
    signal: AbortSignal.timeout(GITHUB_MAX_MS),
  });
  if (!response.ok) throw new Error(`GitHub answered ${response.status} to ${path}`);
  return response.json();
}

/** GitHub is not an OpenID provider: the user and the verified addresses come from two API calls. */
function github(credentials: Credentials): Provider {
  return {
    id: "github",
    name: "GitHub",
    type: "oauth",
    issuer: GITHUB_ISSUER,
    checks: ["pkce", "state"],
    authorization: { url: "https://github.com/login/oauth/authorize", params: { scope: "read:user user:email" } },
    token: "https://github.com/login/oauth/access_token",
    userinfo: {
      async request({ tokens }) {
        const { id, name, login } = (await askGithub("/user", tokens.access_token)) as Record<string, unknown>;
        const email = verifiedGithubEmail(await askGithub("/user/emails", tokens.access_token));
        const verified = email === undefined ? {} : { email, email_verified: true };
        return { sub: String(id), name: String(name ?? login ?? ""), ...verified };
      },
    },
    profile: ({ sub }) => ({ id: sub }),
    ...credentials,
  };
}

/** Any OpenID provider with a discovery document. The ID token identifies the user; userinfo adds missing claims. */
function openId(
  id: string,
  name: string,
  issuer: string,
  credentials: Credentials,
  more: Readonly<Record<string, string>> = {},
): Provider {
  return {
    id,
    name,
    type: "oauth",
    issuer,
    wellKnown: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    idToken: true,
    checks: ["pkce", "state", "nonce"],
    authorization: { params: { scope: "openid email profile", ...more } },
    userinfo: {
      async request({ client, tokens }) {
        // openid-client rejects userinfo of another subject than the token's.
        const info = client.issuer.metadata.userinfo_endpoint === undefined ? {} : await client.userinfo(tokens as never);
        const claims = (tokens as unknown as { claims(): ProviderProfile }).claims();
        // Only the signed token says when the user authenticated.
        return { ...claims, ...info, auth_time: claims.auth_time };
      },
    },
    profile: ({ sub }) => ({ id: sub }),
    ...credentials,
  };
}

/** The configured providers, in the form next-auth expects. */
export function configuredProviders(env: ProviderEnv): Provider[] {
  const providers: Provider[] = [];
  const both = (clientId: string | undefined, clientSecret: string | undefined): Credentials | undefined =>
    clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
  const githubClient = both(env.GITHUB_ID, env.GITHUB_SECRET);
  const googleClient = both(env.GOOGLE_ID, env.GOOGLE_SECRET);
  const oidcClient = both(env.OIDC_CLIENT_ID, env.OIDC_CLIENT_SECRET);
  if (githubClient) providers.push(github(githubClient));
  if (googleClient) providers.push(openId("google", "Google", GOOGLE_ISSUER, googleClient));
  if (oidcClient && env.OIDC_ISSUER) providers.push(openId(TIMED_PROVIDER, env.OIDC_NAME, env.OIDC_ISSUER, oidcClient, ASK_TIME));
  return providers;
}

/** The providers that the sign-in page offers in addition to a password. */
export function signInChoices(env: ProviderEnv): SignInChoice[] {
  return configuredProviders(env).map(({ id, name }) => ({ id, name }));
}

/** The issuer under which the identities of a configured provider are kept; a trailing slash makes no difference. */
function issuerOf(env: ProviderEnv, provider: string): string {
  const issuer = configuredProviders(env).find(({ id }) => id === provider)?.issuer;
  if (issuer === undefined) throw new Error(`the provider ${provider} is not configured`);
  return issuer.replace(/\/$/, "");
}

/** Maps a provider's profile to ours. An invalid email address counts as absent. */
export function identityOf(env: ProviderEnv, provider: string, subject: string, profile: ProviderProfile): ProviderIdentity {
  const email = Email.safeParse(profile.email);
  return {
    provider,
    issuer: issuerOf(env, provider),
    subject,
    email: email.success ? email.data : undefined,
    emailVerified: profile.email_verified === true,
    name: typeof profile.name === "string" ? profile.name.slice(0, 80) : "",
  };
}

/**
 * When the user of a sign-in proved to be its owner: when they authenticated at the provider, which may be long before it sent
 * them back. GitHub and Google do not say it, so that each sign-in with them counts; an OpenID provider that does not say it
 * proves nothing.
 */
export function provedAtMsOf(provider: string, { auth_time: seconds }: ProviderProfile, nowMs: number): number {
  if (provider !== TIMED_PROVIDER) return nowMs;
  return typeof seconds === "number" ? Math.min(nowMs, seconds * SECOND_MS) : 0;
}
