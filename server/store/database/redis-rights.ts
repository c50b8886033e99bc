import { ErrorReply } from "@redis/client";

/** What all nodes and commands do in Redis. Each line is asked about, and never run. */
const KEY_COMMANDS = [
  "del KEY",
  "get KEY",
  "hdel KEY field",
  "hgetall KEY",
  "hset KEY field value",
  "pexpire KEY 1",
  "set KEY value",
  "xadd KEY * field value",
  "xrange KEY - +",
  "xread STREAMS KEY 0",
  "xrevrange KEY + -",
  "xtrim KEY MAXLEN 1",
  "zadd KEY 1 member",
  "zrange KEY 0 -1",
  "zrem KEY member",
  "zremrangebyscore KEY 0 1",
  "zscore KEY member",
];
const CHANNEL_COMMANDS = ["publish CHANNEL text", "subscribe CHANNEL"];
const OTHER_COMMANDS = ["evalsha sha 0", "ping", "time"];

/** Those of these commands that the user may not run; the user needs no right for the question but `eval`. */
const ASK = `
local refused = {}
for _, line in ipairs(ARGV) do
  local words = {}
  for word in string.gmatch(line, "%S+") do table.insert(words, word) end
  if not redis.acl_check_cmd(unpack(words)) then table.insert(refused, words[1]) end
end
return refused`;

/** Where the guide has the line that makes such a user. */
const GUIDE = "/docs/scaling#a-redis-user-of-its-own";

const list = new Intl.ListFormat("en-GB");
const nameOf = (line: string) => line.split(" ", 1)[0] as string;

/** The answer of a server to a user that may not do something. Within scripts, the words depend on its release. */
export function isRefusal(error: unknown): error is ErrorReply {
  return error instanceof ErrorReply && /^NOPERM|ACL failure in script|The user executing the script can't/.test(error.message);
}

function sentenceOf(things: readonly string[], commands: readonly string[]): string {
  const named = commands.length === 0 ? [] : [`the command${commands.length === 1 ? "" : "s"} ${commands.join(", ")}`];
  return `Redis refuses the user of REDIS_URL ${list.format([...things, ...named])}: see ${GUIDE}`;
}

/** What a refusal names, as a sentence. */
export function sentenceOfRefusal({ message }: ErrorReply): string {
  const [, command] = /'([^']+)' command/.exec(message) ?? [];
  return sentenceOf(command === undefined ? ["something"] : [], command === undefined ? [] : [command]);
}

/** A connection, and the names of an installation. */
interface Named {
  readonly client: { eval(script: string, options: { arguments: string[] }): Promise<unknown> };
  key(group: string, name: string): string;
  channel(name: string): string;
}

/**
 * What the user of a connection lacks, as one sentence; null for one that may do everything. It asks on this connection, so commands that
 * are sent later are answered later.
 * @throws Error when the server does not say: it does not answer, or is older than Redis 7
 */
export async function lackOf({ client, key, channel }: Named): Promise<string | null> {
  const [anyKey, control] = [key("any", "key"), channel("control")];
  const lines = [...KEY_COMMANDS, ...CHANNEL_COMMANDS, ...OTHER_COMMANDS];
  const args = lines.map((line) => line.replace(/KEY|CHANNEL/, (word) => (word === "KEY" ? anyKey : control)));
  let refused: readonly string[];
  try {
    refused = (await client.eval(ASK, { arguments: args })) as string[];
  } catch (error) {
    if (isRefusal(error)) return sentenceOfRefusal(error);
    throw error;
  }
  if (refused.length === 0) return null;
  const things: string[] = [];
  const commands = new Set(refused);
  // Who may run nothing on any key lacks the keys; what else is missing shows once they are there.
  const whole = (thing: string, of: readonly string[]) => {
    if (!of.every((line) => commands.has(nameOf(line)))) return;
    things.push(thing);
    for (const line of of) commands.delete(nameOf(line));
  };
  whole(`the keys ${key("", "").split("{", 1)[0]}*`, KEY_COMMANDS);
  whole(`the channel ${control}`, CHANNEL_COMMANDS);
  return sentenceOf(things, [...commands]);
}
