import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import type { ControlMessage } from "#lib/control";
import { collectingLog } from "#lib/testing/collecting-log";
import { createCursor } from "#server/event-log/cursor";
import { createRedisLog } from "#server/event-log/redis-log";
import { createSharedConnections } from "#server/socket/shared-connections";
import { createRedisLender } from "#server/store/access/leased-bucket-script";
import { createTickets } from "#server/store/access/tickets";
import { listenOn } from "#server/store/database/listener";
import { openRedis } from "#server/store/database/redis";
import { createRedisChannel } from "#server/store/database/redis-channel";
import { eventOf } from "#server/testing/events";
import { emptyProjection, leaderOf, SOON } from "#server/testing/log-scene";
import { describeRedis, ready } from "#server/testing/redis-nodes";
import { GUIDE_PREFIX, guideRights, redisUser } from "#server/testing/redis-user";

const LIMITS = { restPerMinute: 60, restBurst: 20 };
const quote = (seq: number) => eventOf(quoteExample, { seq });
const closedKline = eventOf({ ...klineExample, timeframe: "M1" }, { seq: 1, closed: true });

/** Everything of a node that uses Redis. */
function startNode(url: string, lines: Record<string, unknown>[]) {
  const log = collectingLog(lines, "info");
  const redis = openRedis({ url, prefix: GUIDE_PREFIX, log });
  onTestFinished(() => redis.close());
  const shared = { redis, clock: systemClock, log };
  const events = createRedisLog({ ...shared, venue: "live" });
  const connections = createSharedConnections(shared);
  const stopping = new AbortController();
  const counting = connections.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await counting;
  };
  onTestFinished(stop);
  return {
    redis,
    events,
    connections,
    stop,
    lender: createRedisLender(shared),
    tickets: createTickets({ secret: "a secret", clock: systemClock, redis }),
    channel: createRedisChannel(redis),
    async listen(onMessage: (message: ControlMessage) => void) {
      const { stop } = await listenOn({ channel: createRedisChannel(redis), onMessage, clock: systemClock, log });
      onTestFinished(stop);
    },
    follow() {
      const projection = emptyProjection();
      const follower = events.follow(createCursor(projection));
      onTestFinished(() => follower.stop());
      return { projection, follower };
    },
    async lead(token: number) {
      const appender = await events.lead(leaderOf({ token }));
      appender.begin();
      onTestFinished(() => appender.stop());
      return appender;
    },
    takeUnit: () => {
      const call = { cost: 1, want: 0, held: 0, back: 0, owed: 0, opens: true, known: undefined };
      return createRedisLender(shared).ask("account", { node: "node", limits: LIMITS, ...call });
    },
  };
}

describeRedis("a node with a Redis user of its own", (nodes) => {
  test("does all that a node does with the rights of the guide, and nothing is refused", async () => {
    const user = await redisUser(nodes);
    const lines: Record<string, unknown>[] = [];
    const node = startNode(user.url, lines);
    await ready(node.redis);
    const { projection, follower } = node.follow();
    const leader = await node.lead(1);
    leader.append([quote(1), closedKline], 0);
    await vi.waitUntil(() => leader.appended(), SOON);
    await vi.waitUntil(() => projection.view.quote(quoteExample.ticker) !== undefined, SOON);
    // Another leader, and a node that begins with the newest records.
    const next = await node.lead(2);
    next.append([quote(2)], 0);
    await vi.waitUntil(() => next.appended(), SOON);
    const late = node.follow();
    await late.follower.begun;
    await vi.waitUntil(() => follower.problem() === null && late.follower.problem() === null, SOON);

    const heard = new Promise<ControlMessage>((resolve) => {
      void node.listen(resolve).then(() => node.channel.send(JSON.stringify({ kind: "calendars" })));
    });
    expect(await heard).toEqual({ kind: "calendars" });

    expect(await node.takeUnit()).toMatchObject({ bucket: { used: 0 } });
    const { ticket } = node.tickets.mint({ keyId: "key" }, null);
    expect(await node.tickets.redeem(ticket, null)).toMatchObject({ keyId: "key" });
    expect(await node.connections.open("owner", 1)).toBe(true);
    expect(await node.connections.hasRoom("owner", 2)).toBe(true);
    node.connections.close("owner");
    await node.stop();

    // So that this shows whether a right of the guide is missing, or needless.
    const rights = guideRights().filter((right) => right.startsWith("+"));
    expect(await user.commands()).toEqual(expect.arrayContaining(rights.map((right) => right.slice(1))));
    expect(await user.refusals()).toEqual([]);
    expect(lines).toEqual([]);
    expect(node.redis.problem()).toBeNull();
  });

  test("that may use no key says so in one line, however often it tries, and works without a restart once it may", async () => {
    const user = await redisUser(nodes, [...guideRights(), "resetkeys", "~another*"]);
    const lines: Record<string, unknown>[] = [];
    const node = startNode(user.url, lines);
    const { follower } = node.follow();
    await ready(node.redis);
    const leader = await node.lead(1);
    leader.append([quote(1)], 0);
    await expect(node.takeUnit()).rejects.toThrow();
    const refusedCount = async () => (await user.refusals()).reduce((sum, { count }) => sum + count, 0);
    await vi.waitUntil(async () => (await refusedCount()) > 20, { interval: 50 });
    const problem = node.redis.problem();
    expect(problem).toMatch(/^Redis refuses the user of REDIS_URL the keys \S+: see \S+$/);
    expect(lines).toMatchObject([
      { level: 40, msg: problem },
      { level: 40, reason: problem, msg: "events cannot be read from Redis; continuing from stored data" },
    ]);
    expect(JSON.stringify(lines)).not.toContain('"stack"');
    await user.set(...guideRights());
    await vi.waitUntil(() => leader.appended(), SOON);
    await vi.waitUntil(() => follower.problem() === null && node.redis.problem() === null, SOON);
  });
});
