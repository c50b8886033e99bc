import { createHash } from "node:crypto";
import type { Clock } from "#lib/clock";
import { DAY_MS, SECOND_MS } from "#lib/units";
import type { KeptSecrets } from "../kept-secrets";

/** The name under which the tokens are kept. */
const KEPT_AS = "ctrader tokens";
/** A token that expires sooner than this is renewed at the next connection. */
const RENEW_BEFORE_MS = 3 * DAY_MS;

/** What cTrader grants for a refresh token. */
interface Grant {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** Unix milliseconds; null where it is not known, as for a token of the settings. */
  readonly expiresAtMs: number | null;
}

interface TokenOptions {
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly kept: KeptSecrets;
}

/**
 * The access token of an account, and its renewal. A renewal voids the refresh token that was used, so the new one is kept before
 * it is used, and only one process renews at a time. Tokens of changed settings replace what is kept.
 */
export function createTokens({ clientId, accessToken, refreshToken = "", kept }: TokenOptions) {
  const given = createHash("sha256")
    .update(JSON.stringify([clientId, accessToken, refreshToken]))
    .digest("hex");
  let current: Tokens = { accessToken, refreshToken: refreshToken === "" ? null : refreshToken, expiresAtMs: null };
  let isRead = false;
  /** Granted, but not kept: the database was away. */
  let unkept: Tokens | undefined;

  function parse(text: string | undefined): Tokens | undefined {
    if (text === undefined) return undefined;
    const { given: of, ...tokens } = JSON.parse(text) as Tokens & { given: string };
    return of === given ? tokens : undefined;
  }

  return {
    /** The access token to use. It is read once, so that a lost connection is opened again while the database is away. */
    async read(): Promise<string> {
      try {
        if (!isRead) current = parse(await kept.read(KEPT_AS)) ?? current;
        isRead = true;
      } catch {
        // If this token is an old one, it is refused, and the renewal reads the kept one.
      }
      return current.accessToken;
    },
    isOld: (nowMs: number) => current.expiresAtMs !== null && current.expiresAtMs - nowMs < RENEW_BEFORE_MS,
    canRenew: () => current.refreshToken !== null,
    /** Renews the token that was read, unless another process has done so; resolves with the one to use. */
    async renew(clock: Clock, ask: (refreshToken: string) => Promise<Grant>): Promise<string> {
      const used = current;
      const text = await kept.change(KEPT_AS, async (before) => {
        const stored = parse(before) ?? current;
        if (unkept === undefined && stored.accessToken === used.accessToken) {
          const grant = await ask(stored.refreshToken ?? "");
          const expiresAtMs = clock.now() + grant.expiresIn * SECOND_MS;
          unkept = { accessToken: grant.accessToken, refreshToken: grant.refreshToken, expiresAtMs };
        }
        return JSON.stringify({ given, ...(unkept ?? stored) });
      });
      unkept = undefined;
      current = parse(text) ?? current;
      return current.accessToken;
    },
    /** When the access token expires, Unix milliseconds; null where it is not known. */
    expiresAt: () => current.expiresAtMs,
    secrets: () => [current, unkept].flatMap((one) => [one?.accessToken, one?.refreshToken]).filter((one) => one != null),
  };
}
