import type { ProviderTerms } from "#lib/contract/portal-admin";
import type { ProviderName } from "#lib/env-feeds";

/** What the terms of a provider say about passing its prices on, as its guide says it. */
export const TERMS: Readonly<Record<ProviderName, string>> = {
  oanda: "The prices are for the holder of the account. Passing them on needs an agreement with OANDA.",
  ctrader: "Your broker's contract decides whether its prices may be passed on, and Spotware's terms apply to the application.",
  fix: "The contract of the session; most forbid passing prices on.",
  massive: "Personal plans forbid passing data on.",
  tiingo: "The data is for internal use.",
  twelvedata: "Personal plans do not allow passing data on.",
  tradermade: "Your plan decides whether its data may be shown to others.",
};

const PUSHED = "Prices are pushed here: the terms of the source that they come from apply.";

/** The terms of each source of live prices that is configured, for those who give others access to them. */
export function providerTerms(feeds: readonly string[]): ProviderTerms[] {
  return feeds.flatMap((name) => {
    if (name === "push") return [{ provider: name, terms: PUSHED, guide: "/docs/providers#passing-data-on" }];
    const known = Object.entries(TERMS).find(([provider]) => provider === name);
    return known === undefined ? [] : [{ provider: name, terms: known[1], guide: `/docs/providers/${name}` }];
  });
}
