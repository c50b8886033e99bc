import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compileCalendar } from "#lib/domain/calendar";
import type { FarSide, Peer } from "./far-side";
import { countProofs, quietCases } from "./upstream-quiet";
import {
  JUNK,
  LAST,
  lostIn,
  NOW_MS,
  nextTryMs,
  QUOTES,
  quoter,
  type Run,
  type Scene,
  start,
  tickOf,
  until,
  type Wire,
} from "./upstream-scene";

/** What is read, and what is not. */
function messageCases({ wire, far, begin }: Scene): void {
  const quote = quoter(wire);

  test("prices become ticks of our tickers, with the times of the source", async () => {
    far().script(quote);
    const { ticks, report } = begin();
    await until(() => ticks.length === QUOTES.length);
    expect(ticks).toEqual(QUOTES.map(tickOf));
    expect(report()).toMatchObject({ state: "live", found: 2, wanted: 2, losses_count: 0 });
    expect(report().tickers.map(({ ticker, state }) => [ticker, state])).toEqual([
      ["EURUSD", "live"],
      ["XAUUSD", "live"],
    ]);
  });

  test("a message may come in the smallest pieces, and many in one", async () => {
    far().script((peer) => {
      peer.sendSplit(wire.price(QUOTES[0]));
      peer.sendTogether(QUOTES.slice(1).map(wire.price));
    });
    const { ticks } = begin();
    await until(() => ticks.length === QUOTES.length);
    expect(ticks).toEqual(QUOTES.map(tickOf));
  });

  test("messages that cannot be read are counted by reason and change nothing", async () => {
    far().script((peer) => {
      for (const text of JUNK) peer.send(text);
      for (const text of Object.values(wire.unused)) peer.send(text);
      quote(peer);
    });
    const { ticks, lines } = begin();
    await until(() => ticks.length === QUOTES.length);
    expect(ticks).toEqual(QUOTES.map(tickOf));
    const reasons = lines.filter(({ msg }) => msg === "feed sent a message that was not used").map(({ reason }) => reason);
    expect(reasons).toEqual([...new Set(reasons)]);
    expect(reasons).toContain("unreadable");
  });

  test("a message of two megabytes is not kept, and the prices after it come, on this connection or the next", async () => {
    far().script((peer) => {
      peer.send(`{"x":"${"x".repeat(2 ** 21)}"}`);
      quote(peer);
      far().script(quote);
    });
    const running = begin();
    await until(() => running.ticks.length === QUOTES.length || lostIn(running) === 1);
    if (running.ticks.length === 0) await running.clock.advance(nextTryMs(running));
    await until(() => running.ticks.length === QUOTES.length);
    expect(running.ticks).toEqual(QUOTES.map(tickOf));
  });

  test("a secret that the far side repeats appears in no log line", async () => {
    far().script((peer) => {
      peer.send(wire.echo?.(wire.secret) ?? `{"you sent":"${wire.secret}"}`);
      quote(peer);
    });
    const { ticks, lines, problems, report } = begin();
    await until(() => ticks.length === QUOTES.length);
    expect(report().odd.length).toBeGreaterThan(0);
    expect(JSON.stringify([lines, problems, report()])).not.toContain(wire.secret);
    expect(JSON.stringify(lines)).toContain("[secret]");
  });
}

/** Connections that are lost, closed by us, or slow. */
function connectionCases({ wire, far, begin }: Scene): void {
  const quote = quoter(wire);

  test("a connection cut within a message keeps the whole ones, invents none, and comes back within two seconds", async () => {
    far().script((peer) => {
      quote(peer, QUOTES.slice(0, 2));
      peer.cutWithin(wire.price(QUOTES[2]));
      far().script((next) => quote(next, [LAST]));
    });
    const { ticks, clock, problems } = begin();
    await until(() => problems.some((problem) => problem !== null));
    await clock.advance(2_000);
    await until(() => ticks.length === 3);
    expect(ticks).toEqual([...QUOTES.slice(0, 2), LAST].map(tickOf));
  });

  test("a connection that the far side ends is opened again", async () => {
    far().script((peer) => {
      quote(peer);
      peer.end();
      far().script((next) => quote(next, [LAST]));
    });
    const { ticks, clock, problems, report } = begin();
    await until(() => problems.some((problem) => problem !== null));
    expect(report()).toMatchObject({ state: "waiting", until: expect.any(String), problem: expect.any(String), losses_count: 1 });
    await clock.advance(2_000);
    await until(() => ticks.length === QUOTES.length + 1);
    expect(report()).toMatchObject({ state: "live", until: null, problem: null });
  });

  test("a stop ends a connection at every step", async () => {
    const asked = begin();
    asked.stop.abort();
    await asked.ended;
    far().script(() => undefined);
    const silent = begin();
    await until(() => far().open() === 1);
    silent.stop.abort();
    await silent.ended;
    far().script(quote);
    const live = begin();
    await until(() => live.ticks.length === QUOTES.length);
    live.stop.abort();
    await live.ended;
    await until(() => far().open() === 0);
  });

  test("while a batch is taken, the far side keeps what it sends, and the connection is not cut", async () => {
    // JSON may be followed by spaces.
    const text = wire.price(QUOTES[0]) + " ".repeat(20_000);
    let peer: Peer | undefined;
    let free = () => undefined as unknown;
    far().script((one) => {
      peer = one;
      one.send(text);
    });
    const held = new Promise<void>((resolve) => {
      free = resolve as () => unknown;
    });
    const { ticks, clock, problems } = begin(() => held);
    await until(() => ticks.length === 1);
    for (let sent = 0; sent < 600; sent += 100) peer?.sendTogether(new Array<string>(100).fill(text));
    await until(() => (peer?.unread() ?? 0) > 0);
    await clock.advance(2 * wire.upstream(far()).declares.idleMs);
    expect(ticks).toHaveLength(1);
    free();
    await until(() => ticks.length === 601);
    expect(problems.filter((problem) => problem !== null)).toEqual([]);
  });
}

/** Connections on which nothing comes. */
function silenceCases({ wire, far, begin }: Scene): void {
  const quote = quoter(wire);

  test("a silent connection is cut by our own timer", async () => {
    far().silence(true);
    far().script((peer) => quote(peer, [QUOTES[0]]));
    const running = begin();
    await until(() => running.ticks.length === 1);
    const { idleMs } = wire.upstream(far()).declares;
    await running.clock.advance(idleMs - 1_000);
    expect(far().connections()).toBe(1);
    await running.clock.advance(1_000);
    await until(() => lostIn(running) === 1);
    expect(nextTryMs(running)).toBeLessThanOrEqual(2_001);
    await running.clock.advance(nextTryMs(running));
    await until(() => far().connections() === 2);
    expect(running.lines.map(({ reason }) => reason)).toContain(`silent for ${idleMs / 1_000} s`);
  });

  test("heartbeats keep a connection as long as they come while the market is closed, without a price", async () => {
    const { upstream, proofs } = countProofs({ wire, far });
    let peer: Peer | undefined;
    far().script((one) => {
      peer = one;
      quote(one, [QUOTES[0]]);
    });
    const { ticks, clock, report } = begin(undefined, upstream, compileCalendar({ kind: "never" }, []));
    await until(() => ticks.length === 1);
    for (let beat = 0; beat < 300; beat += 1) {
      await clock.advance(upstream.declares.idleMs * 0.8);
      const before = proofs.count;
      peer?.send(wire.heartbeat);
      await until(() => proofs.count > before);
    }
    expect([far().connections(), far().open(), ticks.length, report().state]).toEqual([1, 1, 1, "live"]);
  });
}

/** Sources that refuse, or ask us to wait. */
function refusalCases({ wire, far, begin }: Scene): void {
  test.each([401, 403])(
    "a refusal (%i) is reported with what to check, and asked again after a minute, never sooner",
    async (status) => {
      far().refuse({ status, body: JSON.stringify({ errorMessage: `no entitlement for ${wire.secret}` }) });
      const { clock, problems, lines, report } = begin();
      await until(() => problems.length === 1);
      expect(report()).toMatchObject({ state: "refused", until: new Date(NOW_MS + 60_000).toISOString() });
      expect(problems[0]).toMatch(/refuses the connection: .*Check/);
      expect(far().connections()).toBe(1);
      await clock.advance(59_000);
      expect(far().connections()).toBe(1);
      await clock.advance(1_000);
      await until(() => far().connections() === 2 && problems.length === 2);
      await clock.advance(299_000);
      expect(far().connections()).toBe(2);
      expect(JSON.stringify([problems, lines, report()])).not.toContain(wire.secret);
    },
  );
}

/** What HTTP answers to the connection, also where a WebSocket follows. */
function httpCases({ far, begin }: Scene): void {
  test.each([
    ["seconds", "40"],
    ["a date", new Date(NOW_MS + 40_000).toUTCString()],
  ])("after 429 with Retry-After in %s, the next try waits as long as it says", async (_, value) => {
    far().refuse({ status: 429, headers: { "retry-after": value } });
    const { clock, problems } = begin();
    await until(() => problems.length === 1);
    await clock.advance(39_000);
    expect(far().connections()).toBe(1);
    await clock.advance(1_000);
    await until(() => far().connections() === 2);
  });

  test.each([
    [500, "{}"],
    [502, "<html><body>Bad gateway</body></html>"],
    [503, ""],
    [429, ""],
    [200, '{"errorMessage":"not now"}'],
    [200, "<html><body>Sign in to this network</body></html>"],
  ])("%i with %j is tried again with growing pauses", async (status, body) => {
    far().refuse({ status, body });
    const running = begin();
    await until(() => running.problems.length === 1);
    for (const [count, mostMs] of [
      [2, 500],
      [3, 1_000],
      [4, 2_000],
      [5, 4_000],
    ] as const) {
      const pauseMs = nextTryMs(running);
      expect(pauseMs).toBeGreaterThanOrEqual(mostMs / 2);
      expect(pauseMs).toBeLessThanOrEqual(mostMs + 1);
      await running.clock.advance(pauseMs);
      await until(() => running.problems.length === count);
    }
    expect(far().connections()).toBe(5);
  });
}

/** Far sides that do not stay. */
function restartCases({ far, begin }: Scene): void {
  test("a far side that restarts all the time is asked less and less often, and nothing stays open", async () => {
    far().script((peer) => peer.end());
    const running = begin();
    const pauses: number[] = [];
    for (let count = 1; count < 8; count += 1) {
      await until(() => lostIn(running) === count);
      pauses.push(nextTryMs(running));
      await running.clock.advance(nextTryMs(running));
    }
    expect(pauses.at(-1)).toBeGreaterThan(4 * (pauses[1] ?? 0));
    running.stop.abort();
    await running.ended;
    await until(() => far().open() === 0);
  });
}

/** Every wire format behaves like this. */
export function describeUpstream(name: string, wire: Wire): void {
  describe(name, () => {
    let far: FarSide;
    let run: Run | undefined;
    const scene: Scene = {
      wire,
      far: () => far,
      begin(take, upstream = wire.upstream(far), calendar) {
        run = start(upstream, take, calendar);
        return run;
      },
    };

    beforeEach(async () => {
      far = await wire.farSide();
    });
    afterEach(async () => {
      run?.stop.abort();
      await run?.ended;
      await far.close();
    });

    messageCases(scene);
    connectionCases(scene);
    silenceCases(scene);
    quietCases(scene);
    refusalCases(scene);
    if (wire.speaksHttp !== false) httpCases(scene);
    restartCases(scene);
  });
}
