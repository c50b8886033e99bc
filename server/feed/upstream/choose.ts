import type { Env } from "#lib/env";
import { feedUrl, type ProviderName } from "#lib/env-feeds";
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
  oanda: ({ OANDA_TOKEN: token = "", OANDA_ACCOUNT: account = "", OANDA_ENVIRONMENT: environment, ...env }) =>
    oandaUpstream({ token, account, environment, url: feedUrl(env, "oanda") }),
  ctrader: (env, kept) =>
    ctraderUpstream({
      clientId: env.CTRADER_CLIENT_ID ?? "",
      clientSecret: env.CTRADER_CLIENT_SECRET ?? "",
      accessToken: env.CTRADER_ACCESS_TOKEN ?? "",
      refreshToken: env.CTRADER_REFRESH_TOKEN,
      account: env.CTRADER_ACCOUNT ?? 0,
      environment: env.CTRADER_ENVIRONMENT,
      times: env.CTRADER_TIMES,
      url: feedUrl(env, "ctrader"),
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
  massive: ({ MASSIVE_KEY: key = "", ...env }) => socketUpstream(massive, { key, url: feedUrl(env, "massive") }),
  tiingo: ({ TIINGO_TOKEN: key = "", ...env }) => socketUpstream(tiingo, { key, url: feedUrl(env, "tiingo") }),
  twelvedata: ({ TWELVEDATA_KEY: key = "", ...env }) => socketUpstream(twelveData, { key, url: feedUrl(env, "twelvedata") }),
  tradermade: ({ TRADERMADE_KEY: key = "", ...env }) => socketUpstream(traderMade, { key, url: feedUrl(env, "tradermade") }),
};

/** An upstream by its name, whose settings the caller has checked. */
export const openUpstream = (name: ProviderName, env: Env, kept: KeptSecrets): Upstream => MAKERS[name](env, kept);
