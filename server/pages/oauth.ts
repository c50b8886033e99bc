import { z } from "zod";
import { clientBlock } from "#lib/access/address";
import { hashKey } from "#lib/access/key-format";
import { createLru } from "#lib/access/lru";
import { answersChallenge, isListedRedirect, isLoopback, isResource, resourceOf } from "#lib/access/oauth";
import { createSignedTokens } from "#lib/access/signed-token";
import { CLIENT_DOCUMENT_KEPT_S, CLIENT_DOCUMENTS_KEPT_MAX_COUNT, OAUTH_CODE_LIFETIME_S } from "#lib/contract/limits";
import { type Authorization, AuthorizationRequest, ClientDocument } from "#lib/contract/oauth";
import type { ConnectForm } from "#lib/contract/portal";
import { Fault, isFault } from "#lib/fault";
import { readBody } from "#lib/http/input";
import { failureOf, faultOf } from "#lib/http/respond";
import { SECOND_MS } from "#lib/units";
import { createReadDocument, type ReadDocument } from "#server/outgoing/webhooks";
import type { ChangedBy } from "#server/store/access/audit";
import { createKey, type MintedKey, takeKey } from "#server/store/access/keys";
import { OPEN_TO_PAGES } from "./methods";
import { type PortalRuntime, portal } from "./runtime";
import { visitorOf } from "./visitor";

/** More than the longest client and redirect take. */
const CODE_MAX_CHARACTERS = 20_000;

/** What a code says; it is signed, so that no table keeps what the key's row knows. */
const Code = z.strictObject({
  key: z.string(),
  hash: z.string(),
  client: z.string(),
  redirect: z.string(),
  challenge: z.string(),
  until: z.number(),
});

const codesOf = ({ secrets }: Pick<PortalRuntime, "secrets">) =>
  createSignedTokens({
    secret: secrets.nextAuth,
    purpose: "oauth codes",
    prefix: "",
    claims: Code,
    maxCharacters: CODE_MAX_CHARACTERS,
  });

const refuse = (parameter: string, detail: string) => new Fault("invalid_parameter", { parameter, detail });

/** Reads documents as webhooks are sent. */
const documentReader = ({ env, brand }: Pick<PortalRuntime, "env" | "brand">): ReadDocument =>
  createReadDocument({
    allowedHosts: env.WEBHOOK_ALLOWED_HOSTS,
    ports: env.WEBHOOK_PORTS,
    userAgent: brand.name,
  });

async function readClient(id: string, read: ReadDocument): Promise<ClientDocument> {
  let text: string;
  try {
    text = await read(id);
  } catch (error) {
    throw refuse("client_id", `The document of the client cannot be read. ${(error as Error).message}`);
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw refuse("client_id", "The document of the client is not JSON.");
  }
  const parsed = ClientDocument.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refuse("client_id", `The document of the client is invalid: ${issue?.path.join(".")}: ${issue?.message}`);
  }
  if (parsed.data.client_id !== id) throw refuse("client_id", "The document of the client is of another client.");
  return parsed.data;
}

/** Makes the reader of clients' documents, which keeps those that were valid for a while. */
export function createClientReader(
  running: Pick<PortalRuntime, "env" | "brand" | "clock">,
  read: ReadDocument = documentReader(running),
): PortalRuntime["readClient"] {
  const kept = createLru<{ readonly client: ClientDocument; readonly until: number }>(CLIENT_DOCUMENTS_KEPT_MAX_COUNT);
  return async (id) => {
    const known = kept.get(id);
    if (known !== undefined && known.until > running.clock.now()) return known.client;
    const client = await readClient(id, read);
    kept.set(id, { client, until: running.clock.now() + CLIENT_DOCUMENT_KEPT_S * SECOND_MS });
    return client;
  };
}

/**
 * Checks what a host asks for. Nothing is sent to its redirect before this, because it may be somebody else's.
 * @param base URL of this service, which is also the name of the authorization server
 * @param accountId of the reader: strangers have no documents read
 * @throws Fault invalid_parameter; rate_limited
 */
export async function readAuthorization(
  asked: Readonly<Record<string, unknown>>,
  base: string,
  accountId: string,
  { users, readClient }: Pick<PortalRuntime, "users" | "readClient">,
): Promise<Authorization> {
  await users.attempts.take("agent_sign_in", accountId);
  const parsed = AuthorizationRequest.safeParse(asked);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const parameter = String(issue?.path[0]);
    throw refuse(parameter, `\`${parameter}\` ${asked[parameter] === undefined ? "is missing." : issue?.message}`);
  }
  const request = parsed.data;
  if (!isResource(request.resource, base)) throw refuse("resource", `\`resource\` must be ${resourceOf(base)}.`);
  const { redirect_uris, client_name } = await readClient(request.client_id);
  if (!isListedRedirect(request.redirect_uri, redirect_uris))
    throw refuse("redirect_uri", "`redirect_uri` is not one that the document of the client lists.");
  const { host } = new URL(request.client_id);
  const redirect = new URL(request.redirect_uri);
  return { request, name: client_name || host, host, returnsTo: redirect.host, isLocal: isLoopback(redirect) };
}

/** The URL of the host with these parameters. */
function answerUrl({ redirect_uri, state }: AuthorizationRequest, base: string, answer: Record<string, string>): string {
  const url = new URL(redirect_uri);
  for (const [name, value] of Object.entries({ ...answer, iss: base })) url.searchParams.set(name, value);
  if (state !== undefined) url.searchParams.set("state", state);
  return url.href;
}

/** Where a host learns that the account did not allow it. */
export const declinedUrl = (request: AuthorizationRequest, base: string): string =>
  answerUrl(request, base, { error: "access_denied" });

/**
 * Makes the key of a consent, whose text nobody gets but the host, with the code that the URL takes to it.
 * @throws Fault of createKey
 */
export async function connectHost(
  { request, name, host }: Authorization,
  { venue, expires_at }: Pick<z.output<typeof ConnectForm>, "venue" | "expires_at">,
  by: Required<ChangedBy>,
  base: string,
  running: PortalRuntime,
): Promise<MintedKey["record"] & { readonly url: string }> {
  const { text, record } = await createKey(
    running,
    {
      accountId: by.accountId,
      name,
      agentHost: host,
      venue,
      scopes: ["market:read"],
      // A host that runs in a browser calls from the page that it returns to.
      origins: [new URL(request.redirect_uri).origin],
      expiresAt: new Date(expires_at),
    },
    by,
  );
  const code = codesOf(running).sign({
    key: record.id,
    hash: hashKey(text).toString("base64url"),
    client: request.client_id,
    redirect: request.redirect_uri,
    challenge: request.code_challenge,
    until: running.clock.now() + OAUTH_CODE_LIFETIME_S * SECOND_MS,
  });
  return { ...record, url: answerUrl(request, base, { code }) };
}

/** An answer of the token endpoint, as RFC 6749 has it. */
interface TokenAnswer {
  readonly status: 200 | 400;
  readonly body: Readonly<Record<string, unknown>>;
}

const refused = (error: string, error_description: string): TokenAnswer => ({
  status: 400,
  body: { error, error_description },
});

/** Exchanges a code for the key that it stands for, once, for the host that it was made for. */
export async function exchangeCode(form: URLSearchParams, base: string, running: PortalRuntime): Promise<TokenAnswer> {
  if (form.get("grant_type") !== "authorization_code")
    return refused(
      "unsupported_grant_type",
      "`grant_type` must be `authorization_code`. A token lasts as long as the account chose.",
    );
  if (!isResource(form.get("resource") ?? undefined, base))
    return refused("invalid_target", `\`resource\` must be ${resourceOf(base)}.`);
  const code = codesOf(running).read(form.get("code") ?? "");
  const now = running.clock.now();
  if (code === undefined) return refused("invalid_grant", "The code is not one of this service.");
  if (code.until <= now) return refused("invalid_grant", "The code has expired. Ask the account again.");
  if (form.get("client_id") !== code.client) return refused("invalid_grant", "The code was made for another client.");
  if (form.get("redirect_uri") !== code.redirect) return refused("invalid_grant", "`redirect_uri` is not that of the sign-in.");
  if (!answersChallenge(form.get("code_verifier") ?? "", code.challenge))
    return refused("invalid_grant", "`code_verifier` does not match the `code_challenge` of the sign-in.");
  const taken = await takeKey(running, { id: code.key, hash: code.hash });
  if (taken === undefined)
    return refused("invalid_grant", "The code was used before, so its key is revoked now. Ask the account again.");
  const { text, record } = taken;
  const expires_in = Math.max(0, Math.floor(((record.expiresAt?.getTime() ?? now) - now) / SECOND_MS));
  return { status: 200, body: { access_token: text, token_type: "Bearer", expires_in, scope: record.scopes.join(" ") } };
}

/**
 * Answers the token endpoint, for pages of any site too: it has no cookie, and a code is for whoever knows its verifier.
 * @param base URL of this service
 */
export async function tokenAnswer(request: Request, base: string): Promise<Response> {
  const headers = { ...OPEN_TO_PAGES, "cache-control": "no-store" };
  let running: PortalRuntime | undefined;
  try {
    running = portal();
    running.users.attempts.takeHere("portal", clientBlock(visitorOf(running, request.headers).address));
    const form = new URLSearchParams(await readBody(request));
    const { status, body } = await exchangeCode(form, base, running);
    return Response.json(body, { status, headers });
  } catch (error) {
    if (!isFault(error)) running?.log.error({ err: error }, "token request failed");
    const { status } = failureOf(error, {}, base);
    const { detail, retry_after } = faultOf(error).data;
    const body = {
      error: status === 429 || status >= 500 ? "temporarily_unavailable" : "invalid_request",
      error_description: detail,
    };
    return Response.json(body, { status, headers: { ...headers, ...(retry_after && { "retry-after": String(retry_after) }) } });
  }
}
