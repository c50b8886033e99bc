import type { Clock } from "#lib/clock";
import type { FeedCheckForm, FeedFinding } from "#lib/contract/portal-feeds";
import type { Env } from "#lib/env";
import { type ProviderName, typedSettings } from "#lib/env-feeds";
import { Fault } from "#lib/fault";
import { SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { createCatalogue } from "#server/store/market/catalogue";
import { checkUpstream } from "./upstream/check";
import { openUpstream } from "./upstream/choose";
import type { KeptSecrets } from "./upstream/kept-secrets";

/** So long a tick is waited for, and so long the clocks are compared. */
const WAIT_MS = 10 * SECOND_MS;
const MORE_MS = SECOND_MS;
/** A check ends then, whatever it has found. */
const CHECK_MAX_MS = 40 * SECOND_MS;

/** Nothing that is typed on a page is stored. */
const FORGOTTEN: KeptSecrets = { read: async () => undefined, change: (_, make) => make(undefined) };

interface CheckerOptions {
  readonly env: Env;
  readonly db: Database;
  readonly clock: Clock;
}

/**
 * Makes the function that tries a provider with settings that an operator typed, step by step, as `npm run feed -- check` does. One
 * check runs at a time. It throws Fault invalid_parameter for a setting, conflict while another check runs.
 */
export function createFeedChecker({ env, db, clock }: CheckerOptions) {
  let busy = false;

  async function findings(name: ProviderName, settings: object, signal: AbortSignal): Promise<FeedFinding[]> {
    // A renewal would void the typed token, and the new one is not stored.
    const typed: Env = { ...env, ...settings, LIVE_FEED: [name], CTRADER_REFRESH_TOKEN: undefined };
    const catalogue = await createCatalogue(db, "live");
    const options = { upstream: openUpstream(name, typed, FORGOTTEN), catalogue, named: new Map(), clock };
    const found: FeedFinding[] = [];
    for await (const finding of checkUpstream({ ...options, waitMs: WAIT_MS, moreMs: MORE_MS }, signal)) found.push(finding);
    return found;
  }

  return async ({ provider, settings: typed }: FeedCheckForm, signal: AbortSignal): Promise<readonly FeedFinding[]> => {
    const result = typedSettings(provider, typed);
    if ("wrong" in result)
      throw new Fault("invalid_parameter", { parameter: result.wrong, detail: `\`${result.wrong}\` ${result.problem}` });
    if (busy) throw new Fault("conflict", { detail: "Another check runs. Try again in a minute." });
    busy = true;
    try {
      const late = AbortSignal.timeout(CHECK_MAX_MS);
      const found = await findings(provider, result.settings, AbortSignal.any([signal, late]));
      if (!late.aborted) return found;
      const text = `the provider did not answer to the end within ${CHECK_MAX_MS / SECOND_MS} s`;
      return [...found, { step: "login", state: "failed", text, next: "Try again in a few minutes." }];
    } finally {
      busy = false;
    }
  };
}
