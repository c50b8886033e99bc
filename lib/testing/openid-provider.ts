import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** A person with an account at the provider. */
export interface ProviderPerson {
  readonly sub: string;
  readonly email: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

/** A real OpenID provider on loopback that signs people in without asking them. */
export interface OpenIdProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * Follows an authorization request as this person's browser would, and returns the URL it is redirected to.
   * @param signedInMs when this person signed in there; by default now
   * @throws Error with the provider's message when it does not redirect
   */
  visit(authorization: string, person: ProviderPerson, signedInMs?: number): Promise<URL>;
  close(): Promise<void>;
}

const CLIENT = { client_id: "spotwire", client_secret: "a secret of the client that is long enough" } as const;
const HOPS_MAX_COUNT = 10;
const SCOPE = "openid email profile";

function configuration(redirectUri: string, people: Map<string, ProviderPerson>): object {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri], grant_types: ["authorization_code"], response_types: ["code"] }],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "test", use: "sig", alg: "RS256" }] },
    cookies: { keys: ["a key for the cookies of the provider"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => people.get(sub) }),
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  };
}

/** Starts it; it redirects to `redirectUri` only. */
export async function startOpenIdProvider(redirectUri: string): Promise<OpenIdProvider> {
  const people = new Map<string, ProviderPerson>();
  let visitor = { sub: "", signedInMs: 0 };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configuration(redirectUri, people));
  const handle = provider.callback();

  /** Consents to every prompt of the provider. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === "login")
      return provider.interactionFinished(request, response, {
        login: { accountId: visitor.sub, ts: Math.floor(visitor.signedInMs / 1000) },
      });
    const grant = new provider.Grant({ accountId: session?.accountId ?? visitor.sub, clientId: params.client_id });
    grant.addOIDCScope(SCOPE);
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
  server.on("request", (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return handle(request, response);
    interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });

  return {
    issuer,
    clientId: CLIENT.client_id,
    clientSecret: CLIENT.client_secret,
    async visit(authorization, person, signedInMs = Date.now()) {
      people.set(person.sub, person);
      visitor = { sub: person.sub, signedInMs };
      const cookies = new Map<string, string>();
      let url = new URL(authorization);
      for (let hop = 0; hop < HOPS_MAX_COUNT; hop += 1) {
        const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
        const response = await fetch(url, { redirect: "manual", headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get("location");
        if (location === null) throw new Error(`The provider answered ${response.status}: ${await response.text()}`);
        url = new URL(location, url);
        if (url.origin !== issuer) return url;
      }
      throw new Error("The provider sent its visitor in circles");
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
