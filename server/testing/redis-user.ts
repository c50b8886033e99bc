import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import type { RedisNodes } from "./redis-nodes";

/** The prefix and the password of the user in the guide. */
export const GUIDE_PREFIX = "spotwire";
const PASSWORD = "change-me";

/** The rights of the Redis user that the guide makes, as words of its line. */
export function guideRights(): readonly string[] {
  const guide = readFileSync("lib/docs/guides/scaling.mdx", "utf8");
  const [, rights] = /^ACL SETUSER spotwire (on .+)$/m.exec(guide) ?? [];
  if (rights === undefined) throw new Error("the guide has no line ACL SETUSER spotwire");
  return rights.split(" ");
}

/** A Redis user of one test. */
interface RedisUser {
  /** The server, with this user. */
  readonly url: string;
  /** Gives or takes rights. */
  set(...rights: readonly string[]): Promise<void>;
  /** Commands that were run so far, within scripts too. */
  commands(): Promise<readonly string[]>;
  /** Commands of this user that were refused so far: how often, and for what. */
  refusals(): Promise<readonly { readonly reason: string; readonly object: string; readonly count: number }[]>;
}

/** Makes a user with these rights, until the test is over, on the emptied server: all tests have the prefix of the guide. */
export async function redisUser(nodes: RedisNodes, rights: readonly string[] = guideRights()): Promise<RedisUser> {
  const { client } = await nodes.open();
  const set: RedisUser["set"] = async (...given) => void (await client.aclSetUser(GUIDE_PREFIX, [...given]));
  await client.flushAll();
  await client.aclLogReset();
  await client.configResetStat();
  await set("reset", ...rights);
  onTestFinished(async () => void (await nodes.open().then((admin) => admin.client.aclDelUser(GUIDE_PREFIX))));
  return {
    url: nodes.server.url.replace("://", `://${GUIDE_PREFIX}:${PASSWORD}@`),
    set,
    async commands() {
      const stats = await client.info("commandstats");
      return [...stats.matchAll(/cmdstat_(\w+):calls/g)].map(([, name]) => name as string);
    },
    async refusals() {
      const entries = await client.aclLog();
      return entries.filter(({ username }) => username === GUIDE_PREFIX);
    },
  };
}
