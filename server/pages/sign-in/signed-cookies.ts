import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createSignedTokens } from "#lib/access/signed-token";
import { KNOWN_BROWSER_LIFETIME_S } from "#lib/contract/portal";
import { SECOND_MS } from "#lib/units";
import type { PortalRuntime } from "#server/pages/runtime";
import type { KnownBrowser } from "#server/store/users/context";
import type { Entry } from "#server/store/users/entry";
import type { SignInStep } from "#server/store/users/second-factor";
import { OWN_COOKIES, ownCookie, readOwnCookie } from "./cookies";

const COOKIE_MAX_CHARACTERS = 500;

/** What signed cookies are made and read with. */
export type SignedCookieRuntime = Pick<PortalRuntime, "env" | "secrets" | "clock">;

interface Until {
  /** Unix milliseconds from which it is void. */
  readonly until: number;
}

/** A cookie of ours that nobody else can make. It is valid for as long as browsers keep it. */
export function signedCookie<Claims extends Until>(name: keyof typeof OWN_COOKIES, purpose: string, claims: z.ZodType<Claims>) {
  const tokens = ({ secrets }: SignedCookieRuntime) =>
    createSignedTokens({ secret: secrets.nextAuth, purpose, prefix: "", claims, maxCharacters: COOKIE_MAX_CHARACTERS });
  return {
    /** The Set-Cookie header. */
    write(running: SignedCookieRuntime, value: Omit<Claims, "until">): string {
      const until = Math.floor(running.clock.now()) + OWN_COOKIES[name] * SECOND_MS;
      return ownCookie(running.env, name, tokens(running).sign({ ...value, until } as Claims));
    },
    /** What the cookie of a Cookie header says; undefined without one of ours, or past its time. */
    read(running: SignedCookieRuntime, cookies: string | null): Claims | undefined {
      const text = readOwnCookie(running.env, name, cookies);
      const read = text === undefined ? undefined : tokens(running).read(text);
      return read !== undefined && running.clock.now() < read.until ? read : undefined;
    },
  };
}

const known = signedCookie("known", "known browser", z.strictObject({ id: z.uuid(), userId: z.uuid(), until: z.int() }));

/** The Set-Cookie header by which a browser is known after a sign-in. It gives no access: only its limits are its own. */
export const knownBrowserCookie = (running: SignedCookieRuntime, userId: string): string =>
  known.write(running, { id: randomUUID(), userId });

/** The browser that a Cookie header shows to have signed in before; undefined without such a cookie of ours. */
export function readKnownBrowser(running: SignedCookieRuntime, cookies: string | null): KnownBrowser | undefined {
  const claims = known.read(running, cookies);
  return claims && { id: claims.id, userId: claims.userId, sinceMs: claims.until - KNOWN_BROWSER_LIFETIME_S * SECOND_MS };
}

const step = signedCookie("step", "sign-in step", z.strictObject({ userId: z.uuid(), mark: z.string(), until: z.int() }));

/** The Set-Cookie header by which this browser may go on to the second factor. It gives no access by itself. */
export const stepCookie = (running: SignedCookieRuntime, { userId, mark }: SignInStep): string =>
  step.write(running, { userId, mark });

/** The sign-in that this browser began; undefined without one, or past its time. */
export const readStep = (running: SignedCookieRuntime, cookies: string | null): SignInStep | undefined =>
  step.read(running, cookies);

/** Keeps in a browser what lets it in after its address was verified. */
export function keepEntry(running: SignedCookieRuntime, { ticket, step }: Entry, keepCookie: (header: string) => void): void {
  if (ticket !== undefined) keepCookie(ownCookie(running.env, "entry", ticket));
  if (step !== undefined) keepCookie(stepCookie(running, step));
}
