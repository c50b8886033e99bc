import { createSealer } from "#lib/access/sealer";
import { type FeedFinding, PROVIDERS } from "#lib/contract/portal-feeds";
import type { Env } from "#lib/env";
import { PROVIDER_SETTINGS, type ProviderName } from "#lib/env-feeds";
import { SECOND_MS } from "#lib/units";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED, UsageError } from "#server/cli/usage-error";
import { acquireSecrets } from "#server/database/secrets";
import { connectThroughProxies } from "#server/outgoing/proxy";
import { createCatalogue } from "#server/store/market/catalogue";
import { checkUpstream } from "./upstream/check";
import { openUpstream } from "./upstream/choose";
import { createKeptSecrets } from "./upstream/kept-secrets";
import { asksFor } from "./upstream/symbols";

const WAIT_MAX_S = 600;
const MORE_MS = 3 * SECOND_MS;

const USAGE = `npm run feed -- check [PROVIDER] [--wait 30]

Tries the first provider of LIVE_FEED, or the named one, step by step: settings, name, connection, encryption, login, instruments,
prices, history, clock. Each line says what was found; after the first step that failed, it says what to do. Nothing is stored.

  PROVIDER   ${PROVIDERS.join(", ")}
  --wait     seconds to wait for a tick once it is subscribed, at most ${WAIT_MAX_S}

Exit code: 0 when ticks come or every market is closed, 1 when a step failed. A provider that allows one connection may close
that of a running service, which opens it again.`;

const OPTIONS = { wait: { type: "string", default: "30" } } as const;

/** The provider to check. @throws UsageError when there is none */
function nameOf(words: readonly string[], env: Env): ProviderName {
  const [word, ...others] = words;
  if (others.length > 0) throw new UsageError(`Unexpected argument "${others[0]}".`);
  const given: readonly string[] = word === undefined ? env.LIVE_FEED : [word];
  const name = PROVIDERS.find((one) => one === given.find((each) => PROVIDERS.some((known) => known === each)));
  if (name !== undefined) return name;
  const what =
    word === undefined ? `LIVE_FEED is ${env.LIVE_FEED.join(",")}, which is no provider` : `Unknown provider "${word}"`;
  throw new UsageError(`${what}: use one of ${PROVIDERS.join(", ")}.`);
}

/** @throws UsageError */
function waitMsOf(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > WAIT_MAX_S)
    throw new UsageError(`--wait ${text}: must be a whole number of seconds from 1 to ${WAIT_MAX_S}.`);
  return seconds * SECOND_MS;
}

function settingsFinding(name: ProviderName, env: Env): FeedFinding {
  const missing = PROVIDER_SETTINGS[name].filter((setting) => env[setting] === undefined);
  if (missing.length === 0) return { step: "settings", state: "ok", text: `those of ${name} are there` };
  const next = `Set ${missing.join(", ")}. A key or token may also be in a file that its name with _FILE names.`;
  return { step: "settings", state: "failed", text: `${missing.join(", ")} missing`, next };
}

function show({ step, state, text, next }: FeedFinding, { print }: CommandContext): void {
  print(`${state.padEnd(6)}  ${step.padEnd(11)}  ${text}`);
  if (next !== undefined) print(`${" ".repeat(21)}${next}`);
}

/** `npm run feed`. */
export const feedCommand = defineCommand({
  name: "feed",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, context) {
    const { words } = subcommandOf(positionals, ["check"]);
    const waitMs = waitMsOf(values.wait);
    const env = context.readEnv();
    connectThroughProxies(env);
    const name = nameOf(words, env);
    const settings = settingsFinding(name, env);
    show(settings, context);
    if (settings.state === "failed") return EXIT_FAILED;
    const { nextAuth } = await acquireSecrets(env);
    return context.withDatabase(async (db) => {
      const upstream = openUpstream(name, env, createKeptSecrets(db.pool, createSealer(nextAuth, "provider secrets")));
      const chosen = env.FEED_SYMBOLS.filter(({ feed }) => feed === name);
      const named = new Map(chosen.map(({ ticker, symbol }) => [ticker, symbol]));
      const { list, calendar } = await createCatalogue(db, "live");
      const isAsked = asksFor(name, env);
      const catalogue = { list: () => list().filter(({ ticker }) => isAsked(ticker)), calendar };
      const options = { upstream, catalogue, named, clock: context.clock, waitMs, moreMs: MORE_MS };
      let failed = false;
      for await (const finding of checkUpstream(options, context.stopSignal())) {
        show(finding, context);
        failed = finding.state === "failed";
      }
      return failed ? EXIT_FAILED : EXIT_DONE;
    });
  },
});

await runAsProcess(import.meta.url, feedCommand);
