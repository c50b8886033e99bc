import { z } from "zod";
import { MINUTE_S } from "#lib/units";
import { PLAIN_TEXT, PLAIN_TEXT_WORDS } from "./primitives";

/** Numbers of second factors and of fresh proofs. Names end in the unit. */

/** A change that needs a proof is made this long after one. */
export const PROOF_LIFETIME_S = 10 * MINUTE_S;
/** Time to enter the code after the password, and to use a passkey after the browser was asked for it. */
export const SIGN_IN_STEP_LIFETIME_S = 10 * MINUTE_S;
/** How long a browser that verified an address may take to be signed in. */
export const ENTRY_LIFETIME_S = MINUTE_S;
export const PASSKEY_CHALLENGE_LIFETIME_S = 5 * MINUTE_S;
/** A code of an authenticator app: so many digits, for so long. */
export const TOTP_DIGITS = 6;
export const TOTP_PERIOD_S = 30;
/** Wrong codes of the app in a day; past them, a sign-in takes a recovery code or a passkey. */
export const WRONG_CODES_PER_DAY_COUNT = 20;
export const RECOVERY_CODES_COUNT = 10;
export const PASSKEYS_MAX_COUNT = 20;
const PASSKEY_NAME_MAX_CHARACTERS = 80;
/** Longest text of a code with its separators, and of one field that a browser reports of a passkey. */
const CODE_MAX_CHARACTERS = 60;
const PASSKEY_FIELD_MAX_CHARACTERS = 16_384;
const TRANSPORTS_MAX_COUNT = 10;

/** A code of an authenticator app, or a recovery code. */
const Code = z.string().trim().min(1, "Enter a code.").max(CODE_MAX_CHARACTERS, "This code is too long.");
export const CodeForm = z.strictObject({ code: Code });

const Encoded = z.string().max(PASSKEY_FIELD_MAX_CHARACTERS);
const credential = {
  id: Encoded,
  rawId: Encoded,
  type: z.literal("public-key"),
};

/** What a browser reports of a passkey it made (WebAuthn RegistrationResponseJSON), as far as it is read. */
const NewPasskey = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: Encoded,
    attestationObject: Encoded,
    transports: z.array(z.string().max(20)).max(TRANSPORTS_MAX_COUNT).optional(),
  }),
});
/** What a browser reports of a passkey that was used (WebAuthn AuthenticationResponseJSON), as far as it is read. */
export const UsedPasskey = z.object({
  ...credential,
  response: z.object({ clientDataJSON: Encoded, authenticatorData: Encoded, signature: Encoded, userHandle: Encoded.optional() }),
});
export type NewPasskey = z.infer<typeof NewPasskey>;
export type UsedPasskey = z.infer<typeof UsedPasskey>;

export const AddPasskeyForm = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1, "Enter a name.")
    .max(PASSKEY_NAME_MAX_CHARACTERS, `Use at most ${PASSKEY_NAME_MAX_CHARACTERS} characters.`)
    .regex(PLAIN_TEXT, PLAIN_TEXT_WORDS),
  passkey: NewPasskey,
});

/** Proves again by a passkey that the user of a session is its owner. */
export const PasskeyProofForm = z.strictObject({ passkey: UsedPasskey });

/** A passkey as its owner sees it. */
export interface PortalPasskey {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** The second factors of a user. */
export interface SecondFactors {
  /** Since when codes of an authenticator app count; null without one. */
  readonly totp_since: string | null;
  readonly passkeys: readonly PortalPasskey[];
  /** Recovery codes that were not used yet. */
  readonly recovery_codes: number;
}

/** What an authenticator app needs to know. */
export interface TotpSetup {
  /** In base32, to type. */
  readonly secret: string;
  /** The `otpauth:` address of the same. */
  readonly uri: string;
  /** That address as a QR code: an SVG document. */
  readonly qr: string;
}

/** New recovery codes, shown this once; null when the user already had some. */
export interface NewRecoveryCodes {
  readonly recovery_codes: readonly string[] | null;
}
