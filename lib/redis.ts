import { createHash } from "node:crypto";
import { createClient } from "redis";
import { systemClock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { type Backoff, backoffMs, repeat } from "./repeat";
import { withTimeout } from "./with-timeout";

const CONNECT_MAX_MS = 2_000;
/** A command that waits longer to be sent is given up. */
const COMMAND_MAX_MS = 2_000;
/** A connection that does not answer for this long is cut, and what was asked on it with it. */
const SILENCE_MAX_MS = 1_500;
const PING_INTERVAL_MS = 500;
/** A connection on which nothing was said for this long is cut. */
const IDLE_MAX_MS = 3_000;
const RECONNECT: Backoff = { firstMs: 100, longestMs: 2_000 };

interface RedisOptions {
  /** Redis URL; never logged. */
  url: string;
  /** Begin of every key of this installation. */
  prefix: string;
  log: Logger;
}

function makeClient(url: string) {
  return createClient({
    url,
    // Whoever asks while it is away learns so at once and has its own way on; nothing piles up.
    disableOfflineQueue: true,
    commandOptions: { timeout: COMMAND_MAX_MS },
    socket: {
      connectTimeout: CONNECT_MAX_MS,
      // Also one that was let in and never greeted; whoever blocks or subscribes asks something more often.
      socketTimeout: IDLE_MAX_MS,
      reconnectStrategy: (retries) => backoffMs(RECONNECT, retries),
    },
  });
}

export type RedisClient = ReturnType<typeof makeClient>;

/** What the nodes of one installation share in Redis. */
export interface Redis {
  /** The connection of now: do not keep it. Commands are refused at once while it is away, and after two seconds of silence. */
  readonly client: RedisClient;
  /** False while commands would be refused. */
  connected(): boolean;
  /**
   * Name of a key. Keys with the same group live on one node of a cluster, so that one script may touch them together.
   * @param group a venue, or whose the key is
   */
  key(group: string, name: string): string;
  /**
   * Another connection, for what blocks or subscribes; it connects by itself and again. Whoever asks ends it (`destroy`), and
   * notices when it falls silent.
   */
  another(): RedisClient;
  /** Calls back whenever the connection is there again (the first time too); the returned function ends that. */
  onReady(callback: () => void): () => void;
  close(): void;
}

/**
 * Makes a script of Lua that runs as one step: by its hash, so that its text goes over the wire once a server.
 * @returns what calls it with its KEYS and ARGV; rejects when Redis is away or silent, and the script may have run all the same
 */
export function createScript(redis: Pick<Redis, "client">, source: string): (keys: string[], args: string[]) => Promise<unknown> {
  const sha = createHash("sha1").update(source).digest("hex");
  return async (keys, args) => {
    // The connection of now: one that fell silent is replaced.
    const { client } = redis;
    const options = { keys, arguments: args };
    try {
      return await client.evalSha(sha, options);
    } catch (error) {
      // A server that was started anew knows no scripts.
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return client.eval(source, options);
      throw error;
    }
  };
}

/** Opens the connection in the background: a node starts and serves what it can while Redis is away. */
export function openRedis({ url, prefix, log }: RedisOptions): Redis {
  let failing = false;

  function open(): RedisClient {
    const client = makeClient(url);
    client.on("error", (error: unknown) => {
      if (!failing) log.warn({ err: error }, "Redis is away; connecting again");
      failing = true;
    });
    client.on("ready", () => {
      if (failing) log.info("Redis is back");
      failing = false;
    });
    // It rejects only when the client is destroyed before it was ever connected.
    client.connect().catch(() => undefined);
    return client;
  }

  const closing = new AbortController();
  let current: RedisClient;
  const callbacks = new Set<() => void>();

  /** Its own silence is not noticed by a client that goes on writing: pings without an answer end it. */
  async function watch(client: RedisClient): Promise<void> {
    const until = () => client !== current;
    await repeat({ clock: systemClock, signal: closing.signal, pause: PING_INTERVAL_MS, until }, async () => {
      if (!client.isReady) return;
      await withTimeout(client.ping(), SILENCE_MAX_MS, systemClock, closing.signal).catch(() => {
        if (client.isReady && !closing.signal.aborted) renew();
      });
    });
  }

  function renew(): void {
    const before = current as RedisClient | undefined;
    current = open();
    current.on("ready", () => {
      for (const callback of callbacks) callback();
    });
    if (before?.isOpen) before.destroy();
    void watch(current);
  }
  renew();

  return {
    get client() {
      return current;
    },
    connected: () => current.isReady,
    key: (group, name) => `{${prefix}:${group}}:${name}`,
    another: open,
    onReady(callback) {
      callbacks.add(callback);
      if (current.isReady) callback();
      return () => callbacks.delete(callback);
    },
    close() {
      closing.abort();
      current.destroy();
    },
  };
}
