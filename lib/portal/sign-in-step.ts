import { z } from "zod";
import { createSignedTokens } from "#lib/access/signed-token";
import type { SignInStep } from "#lib/access/users/second-factor";
import { SIGN_IN_STEP_LIFETIME_S } from "#lib/contract/second-factor";
import { SECOND_MS } from "#lib/units";
import { ownCookie, readOwnCookie } from "./cookies";
import type { PortalRuntime } from "./runtime";

const Claims = z.strictObject({ userId: z.uuid(), mark: z.string(), until: z.int() });
const COOKIE_MAX_CHARACTERS = 500;

type Running = Pick<PortalRuntime, "env" | "secrets" | "clock">;

function tokens({ secrets }: Running) {
  const purpose = "sign-in step";
  return createSignedTokens({
    secret: secrets.nextAuth,
    purpose,
    prefix: "",
    claims: Claims,
    maxCharacters: COOKIE_MAX_CHARACTERS,
  });
}

/** The Set-Cookie header by which this browser may go on to the second factor. It gives no access by itself. */
export function stepCookie(running: Running, step: SignInStep): string {
  const until = Math.floor(running.clock.now()) + SIGN_IN_STEP_LIFETIME_S * SECOND_MS;
  return ownCookie(running.env, "step", tokens(running).sign({ ...step, until }));
}

/** The sign-in that this browser began; undefined without one, or past its time. */
export function readStep(running: Running, cookies: string | null): SignInStep | undefined {
  const text = readOwnCookie(running.env, "step", cookies);
  const claims = text === undefined ? undefined : tokens(running).read(text);
  return claims !== undefined && running.clock.now() < claims.until ? claims : undefined;
}
