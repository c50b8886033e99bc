"use client";

import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from "@simplewebauthn/browser";
import type { NewRecoveryCodes } from "#lib/contract/second-factor";
import { type ApiResult, callPortal } from "./api";
import { useHydrated } from "./time";

/** Why the browser made or found no passkey, by the name of its error. */
const WORDS: Readonly<Record<string, string>> = {
  NotAllowedError: "No passkey was used. Try again, or choose another way.",
  InvalidStateError: "This device already has a passkey for your account.",
  SecurityError: "Passkeys work on a host name with HTTPS, or on localhost. They do not work at this URL.",
};
const OTHER_WORDS = "The browser could not use a passkey. Try again, or choose another way.";

/** True in a browser that has passkeys on this page; false until hydrated. */
export function usePasskeySupport(): boolean {
  return useHydrated() && browserSupportsWebAuthn();
}

/** Asks the service for a challenge, and the browser for its answer. */
async function perform<Options, Given>(path: string, ask: (options: Options) => Promise<Given>): Promise<ApiResult<Given>> {
  const options = await callPortal<Options>("POST", path);
  if ("failure" in options) return options;
  try {
    return { data: await ask(options.data) };
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    const detail = Object.hasOwn(WORDS, name) ? (WORDS[name] ?? "") : OTHER_WORDS;
    return { failure: { id: "invalid_parameter", detail, parameter: "passkey", requestId: null } };
  }
}

/** Lets the reader choose a passkey of this site. The result is what the service verifies. */
export function choosePasskey(): Promise<ApiResult<object>> {
  return perform("passkeys/challenge", (optionsJSON: PublicKeyCredentialRequestOptionsJSON) =>
    startAuthentication({ optionsJSON }),
  );
}

/** Makes a passkey and adds it to the account. */
export async function makePasskey(name: string): Promise<ApiResult<NewRecoveryCodes>> {
  const made = await perform("passkeys/creation", (optionsJSON: PublicKeyCredentialCreationOptionsJSON) =>
    startRegistration({ optionsJSON }),
  );
  return "failure" in made ? made : callPortal("POST", "passkeys", { name, passkey: made.data });
}
