import { expect, test } from "vitest";
import { MINUTE_MS } from "#lib/units";
import type { Upstream } from "#server/feed/upstream/port";
import type { Peer } from "./far-side";
import { LAST, lostIn, nextTryMs, QUOTES, quoter, type Scene, until } from "./upstream-scene";

/** An upstream that counts what shows that its far side lives, on the connection of now. */
export function countProofs({ wire, far }: Pick<Scene, "wire" | "far">) {
  const upstream = wire.upstream(far());
  const proofs = { count: 0 };
  const counted: Upstream = {
    ...upstream,
    stream(symbols, link) {
      proofs.count = 0;
      return upstream.stream(symbols, {
        ...link,
        alive() {
          link.alive();
          proofs.count += 1;
        },
      });
    },
  };
  return { upstream: counted, proofs };
}

/** Connections that live and bring no prices. */
export function quietCases({ wire, far, begin }: Scene): void {
  const quote = quoter(wire);

  test("heartbeats without prices while the market is open are a quiet feed: connected again, less and less often, until a new price comes", async () => {
    const { upstream, proofs } = countProofs({ wire, far });
    const stepMs = upstream.declares.idleMs * 0.8;
    let peer: Peer | undefined;
    far().script((one) => {
      peer = one;
      // Many sources repeat the last price on each connection.
      quote(one, [QUOTES[0]]);
    });
    const running = begin(undefined, upstream);
    const { clock, problems, report, repairs, ticks } = running;
    await until(() => ticks.length === 1);
    const lastPriceMs = clock.now();

    /** How long the connection stays without a price, milliseconds. */
    async function quietMs(): Promise<number> {
      const [beganMs, lost] = [clock.now(), lostIn(running)];
      while (lostIn(running) === lost) {
        await clock.advance(stepMs);
        const before = proofs.count;
        peer?.send(wire.heartbeat);
        await until(() => proofs.count > before || lostIn(running) > lost);
      }
      return clock.now() - beganMs;
    }

    const lasted: number[] = [];
    for (let count = 1; count <= 3; count += 1) {
      lasted.push(await quietMs());
      expect(problems.at(-1)).toMatch(/ is quiet: no price for /);
      expect(report()).toMatchObject({ state: "quiet", losses_count: count });
      expect(report().losses[0]?.reason).toBe("quiet");
      expect(nextTryMs(running)).toBeLessThanOrEqual(2_001);
      // It may have been made already: the step that lost the one before can be longer than the pause.
      await clock.advance(nextTryMs(running));
      await until(() => far().connections() === count + 1 && proofs.count > 0);
    }
    for (const [index, ms] of lasted.entries())
      expect(Math.abs(ms - 2 ** (index + 1) * MINUTE_MS)).toBeLessThanOrEqual(2 * stepMs);
    // Neither the connection nor the repeated price ended the silence.
    expect([report().state, ticks.length, problems.at(-1)]).toEqual(["quiet", 1, expect.stringContaining("is quiet")]);
    peer?.send(wire.price(LAST));
    await until(() => ticks.length === 2);
    expect(report()).toMatchObject({ state: "live", problem: null });
    // The whole silence, not only up to where the last connection began.
    expect(repairs).toEqual([lastPriceMs]);
    await until(() => problems.at(-1) === null);
  });
}
