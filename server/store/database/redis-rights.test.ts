import { expect, onTestFinished, test, vi } from "vitest";
import { collectingLog } from "#lib/testing/collecting-log";
import { describeRedis, ready } from "#server/testing/redis-nodes";
import { GUIDE_PREFIX, guideRights, redisUser } from "#server/testing/redis-user";
import { openRedis } from "./redis";
import { lackOf } from "./redis-rights";

const SOON = { interval: 5 };
const GUIDE = "see /docs/scaling#a-redis-user-of-its-own";
const KEYS = guideRights().find((right) => right.startsWith("~")) ?? "";
const CHANNEL = guideRights().find((right) => right.startsWith("&")) ?? "";

function open(url: string, lines: Record<string, unknown>[] = [], prefix = GUIDE_PREFIX) {
  const redis = openRedis({ url, prefix, log: collectingLog(lines, "info") });
  onTestFinished(() => redis.close());
  return redis;
}

describeRedis("rights of a Redis user", (nodes) => {
  test("the user of the guide lacks nothing, and each right that is taken from it is named, and nothing else", async () => {
    const user = await redisUser(nodes);
    const redis = open(user.url);
    await ready(redis);
    expect(await lackOf(redis)).toBeNull();
    const commands = guideRights().filter((right) => right.startsWith("+"));
    expect(commands.length).toBeGreaterThan(20);
    for (const right of commands) {
      const name = right.slice(1);
      await user.set(`-${name}`);
      expect(await lackOf(redis)).toBe(`Redis refuses the user of REDIS_URL the command ${name}: ${GUIDE}`);
      await user.set(right);
    }
    await user.set("resetkeys");
    expect(await lackOf(redis)).toBe(`Redis refuses the user of REDIS_URL the keys ${KEYS.slice(1)}: ${GUIDE}`);
    await user.set("resetchannels", "-ping", "-time");
    expect(await lackOf(redis)).toBe(
      `Redis refuses the user of REDIS_URL the keys ${KEYS.slice(1)}, the channel ${CHANNEL.slice(1)} and the commands ping, time: ${GUIDE}`,
    );
    await user.set(KEYS, CHANNEL, "+ping", "+time");
    expect(await lackOf(redis)).toBeNull();
  });

  test("the default user, and one with other patterns that cover what is needed, lack nothing", async () => {
    expect(await lackOf(await nodes.open(GUIDE_PREFIX))).toBeNull();
    const user = await redisUser(nodes, ["on", ">change-me", "~*", "&spotwire*", "+@all", "-@dangerous", "-@admin"]);
    const redis = open(user.url);
    await ready(redis);
    expect(await lackOf(redis)).toBeNull();
  });

  test("keys and channel are named with the prefix of the installation, whatever it is", async () => {
    const user = await redisUser(nodes);
    const redis = open(user.url, [], "any.KEY.CHANNEL");
    await ready(redis);
    expect(await lackOf(redis)).toBe(
      `Redis refuses the user of REDIS_URL the keys any.KEY.CHANNEL:* and the channel any.KEY.CHANNEL:control: ${GUIDE}`,
    );
  });

  test("a right that was taken away and given back is noticed on the same connection, in one line each", async () => {
    const lines: Record<string, unknown>[] = [];
    const user = await redisUser(nodes);
    const redis = open(user.url, lines);
    let readied = 0;
    redis.onReady(() => (readied += 1));
    await vi.waitUntil(() => redis.problem() === null, SOON);
    // Not even the ping: it stays connected, because a refusal is an answer.
    await user.set("-@all");
    const problem = `Redis refuses the user of REDIS_URL the command eval: ${GUIDE}`;
    await vi.waitUntil(() => redis.problem() === problem, SOON);
    await vi.waitUntil(async () => (await user.refusals()).some(({ object, count }) => object === "ping" && count > 1), SOON);
    expect(redis.connected()).toBe(true);
    await user.set(...guideRights());
    await vi.waitUntil(() => redis.problem() === null, SOON);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [40, problem],
      [30, "Redis refuses its user nothing any more"],
    ]);
    expect(readied).toBe(1);
  });

  test("a wrong password, an unknown user and a database without the right to select it are named, without a stack", async () => {
    const user = await redisUser(nodes);
    const unknown = "Redis refuses the user or the password of REDIS_URL";
    const cases = [
      [user.url.replace("change-me", "another"), unknown],
      [user.url.replace("://spotwire", "://nobody"), unknown],
      [`${user.url}/2`, `Redis refuses the user of REDIS_URL the command select: ${GUIDE}`],
    ] as const;
    for (const [url, problem] of cases) {
      const lines: Record<string, unknown>[] = [];
      const redis = open(url, lines);
      await vi.waitUntil(() => redis.problem() === problem, SOON);
      expect(lines).toMatchObject([{ level: 40, msg: `${problem}; reconnecting` }]);
      expect(lines[0]).not.toHaveProperty("err");
      expect(JSON.stringify(lines)).not.toMatch(/change-me|another/);
    }
    await user.set("+select");
    await ready(open(`${user.url}/2`));
  });
});
