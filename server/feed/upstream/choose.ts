import type { Env } from "#lib/env";
import { PROVIDER_NAMES, type ProviderName } from "#lib/env-feeds";
import { ctraderUpstream } from "./ctrader";
import { fixUpstream } from "./fix";
import { PROFILES } from "./fix/profiles";
import type { KeptSecrets } from "./kept-secrets";
import { oandaUpstream } from "./oanda";
import type { Upstream } from "./port";
import { socketUpstream } from "./websocket-json";
import { massive, tiingo, traderMade, twelveData } from "./websocket-json/vendors";

/** The environment has checked that the settings of the chosen provider are there. */
const MAKERS: Readonly<Record<ProviderName, (env: Env, kept: KeptSecrets) => Upstream>> = {
  oanda: ({ OANDA_TOKEN: token = "", OANDA_ACCOUNT: account = "", OANDA_ENVIRONMENT: environment, FEED_URL: url }) =>
    oandaUpstream({ token, account, environment, url }),
  ctrader: (env, kept) =>
    ctraderUpstream({
      clientId: env.CTRADER_CLIENT_ID ?? "",
      clientSecret: env.CTRADER_CLIENT_SECRET ?? "",
      accessToken: env.CTRADER_ACCESS_TOKEN ?? "",
      refreshToken: env.CTRADER_REFRESH_TOKEN,
      account: env.CTRADER_ACCOUNT ?? 0,
      environment: env.CTRADER_ENVIRONMENT,
      times: env.CTRADER_TIMES,
      url: env.FEED_URL,
      kept,
    }),
  fix: (env) =>
    fixUpstream({
      host: env.FIX_HOST ?? "",
      port: env.FIX_PORT ?? 0,
      tls: env.FIX_TLS === "on",
      sender: env.FIX_SENDER ?? "",
      target: env.FIX_TARGET ?? "",
      senderSub: env.FIX_SENDER_SUB,
      targetSub: env.FIX_TARGET_SUB,
      username: env.FIX_USERNAME,
      password: env.FIX_PASSWORD,
      profile: PROFILES[env.FIX_PROFILE],
    }),
  massive: ({ MASSIVE_KEY: key = "", FEED_URL: url }) => socketUpstream(massive, { key, url }),
  tiingo: ({ TIINGO_TOKEN: key = "", FEED_URL: url }) => socketUpstream(tiingo, { key, url }),
  twelvedata: ({ TWELVEDATA_KEY: key = "", FEED_URL: url }) => socketUpstream(twelveData, { key, url }),
  tradermade: ({ TRADERMADE_KEY: key = "", FEED_URL: url }) => socketUpstream(traderMade, { key, url }),
};

/** An upstream by its name, whose settings the caller has checked. */
export const upstreamOf = (name: ProviderName, env: Env, kept: KeptSecrets): Upstream => MAKERS[name](env, kept);

/**
 * The upstream that LIVE_FEED names; undefined where it names none.
 * @param kept secrets that the upstream changes while it runs
 */
export function chosenUpstream(env: Env, kept: KeptSecrets): Upstream | undefined {
  const name = PROVIDER_NAMES.find((one) => one === env.LIVE_FEED);
  return name === undefined ? undefined : upstreamOf(name, env, kept);
}
