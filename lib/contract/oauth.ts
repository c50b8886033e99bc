import { z } from "zod";
import { CLIENT_NAME_MAX_CHARACTERS, CLIENT_REDIRECTS_MAX_COUNT, OAUTH_PARAMETER_MAX_CHARACTERS } from "./limits";

/** Of RFC 7636: a SHA-256 in base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;

const Parameter = z.string().max(OAUTH_PARAMETER_MAX_CHARACTERS);

/** What a client is known by: the URL of its document, as a browser would write it, with a path of its own. */
const isClientId = (text: string) =>
  URL.canParse(text) && text.startsWith("https://") && new URL(text).href === text && new URL(text).pathname !== "/";

/** What an agent's host asks for, in the query of the page that asks the account. */
export const AuthorizationRequest = z.object({
  response_type: z.literal("code", "must be `code`."),
  client_id: Parameter.refine(isClientId, "must be the https:// URL of a client ID metadata document."),
  redirect_uri: Parameter,
  code_challenge: z.string().regex(CHALLENGE, "must be a SHA-256 in base64url (PKCE)."),
  code_challenge_method: z.literal("S256", "must be `S256`."),
  resource: Parameter.optional(),
  state: Parameter.optional(),
  scope: Parameter.optional(),
});
export type AuthorizationRequest = z.infer<typeof AuthorizationRequest>;

/** The same as the page sends it back; the server reads it again. */
export const ConnectRequest = z.record(z.string().max(50), Parameter);

/** What of a client ID metadata document is read. It names itself, so that no other document can speak for it. */
export const ClientDocument = z
  .object({
    client_id: z.string(),
    client_name: z
      .string()
      .transform((name) => name.replace(UNSEEN, "").trim().slice(0, CLIENT_NAME_MAX_CHARACTERS))
      .optional(),
    redirect_uris: z.array(Parameter).min(1).max(CLIENT_REDIRECTS_MAX_COUNT),
    token_endpoint_auth_method: z.string().optional(),
    token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  })
  .refine(
    ({ token_endpoint_auth_method: preferred = "none", token_endpoint_auth_methods_supported: all = [preferred] }) =>
      all.includes("none"),
    {
      path: ["token_endpoint_auth_method"],
      message: "must be `none`, or `token_endpoint_auth_methods_supported` must list it: clients have no secret here.",
    },
  );
export type ClientDocument = z.infer<typeof ClientDocument>;

/** A sign-in of a host that may be shown to the account. */
export interface Authorization {
  readonly request: AuthorizationRequest;
  /** What the host calls itself. Anybody can choose a name; the host of its document is what it is known by. */
  readonly name: string;
  /** The host of the document. */
  readonly host: string;
  /** Where the reader returns to: a host, with the port of a program on the reader's own machine. */
  readonly returnsTo: string;
  /** True when that is a program on the reader's own machine, which may not be the one of the document. */
  readonly isLocal: boolean;
}
