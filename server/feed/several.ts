import { type MarketFeed, PUSH } from "./feed";
import { createSeveralRun, memberName, type SeveralOptions } from "./several-run";

/**
 * One feed of several providers, of which one at a time speaks for each ticker; pushed ticks may be one of them. All are connected
 * and watched; only what the speaker says is taken.
 */
export function severalFeed(options: SeveralOptions): MarketFeed {
  const { members, catalogue, metrics } = options;
  const providers = members.filter((member) => member !== null);
  let current: ReturnType<typeof createSeveralRun> | undefined;
  const idle = () => ({
    providers: members.map((member) => ({ name: memberName(member), speaks: 0, divergent: 0 })),
    ...{ waiting: catalogue.list().length, pinned: null, held: 0, changes: [], divergent: [] },
  });
  const report = () => current?.report() ?? idle();
  metrics.precedence(report);
  return {
    name: members.map(memberName).join(","),
    keepsTime: false,
    open(start) {
      const run = createSeveralRun(options, start);
      return async function* feed(signal) {
        current = run;
        try {
          yield* run.run(signal);
        } finally {
          if (current === run) current = undefined;
        }
      };
    },
    providers: () => providers.map((provider) => provider.report()),
    voices: {
      speaker: (ticker) => current?.speaker(ticker),
      speakers: () => current?.speakers() ?? {},
      // What no venue lists is refused as such, not because of who pushes it.
      pushed: (tick) => catalogue.find(tick.ticker) === undefined || current?.take(PUSH, [tick]).length === 1,
      pinChanged: async () => current?.pinChanged(),
      report,
    },
  };
}
