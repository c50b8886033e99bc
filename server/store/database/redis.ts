import { readFileSync } from "node:fs";
import { createClient, ErrorReply } from "@redis/client";
import { systemClock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { type Backoff, backoffMs, repeat } from "#lib/repeat";
import { isTlsProblem } from "#lib/tls-problem";
import { withTimeout } from "#lib/with-timeout";
import { isRefusal, lackOf, sentenceOfRefusal } from "./redis-rights";

const CONNECT_MAX_MS = 2_000;
/** A command that waits longer than this to be sent fails. */
const COMMAND_MAX_MS = 2_000;
/** A connection that does not answer for this long is closed, and its commands fail. */
const SILENCE_MAX_MS = 1_500;
const PING_INTERVAL_MS = 500;
/** How often the rights of the user are looked at. */
const RIGHTS_INTERVAL_MS = 2_000;
/** A connection without any traffic for this long is closed. */
const IDLE_MAX_MS = 3_000;
const RECONNECT: Backoff = { firstMs: 100, longestMs: 2_000 };

interface RedisOptions {
  /** Redis URL; never logged. */
  url: string;
  /** File of the certificates that sign the server's, as PEM, for a rediss:// URL; undefined for those of Node. */
  caFile?: string | undefined;
  /** Prefix of every key of this installation. */
  prefix: string;
  log: Logger;
}

function makeClient(url: string, ca: string | undefined) {
  const trust = ca === undefined ? {} : { tls: true as const, ca };
  return createClient({
    url,
    // It would need a right of its own.
    disableClientInfo: true,
    // While Redis is unreachable, commands fail at once and callers continue without it; nothing queues up.
    disableOfflineQueue: true,
    commandOptions: { timeout: COMMAND_MAX_MS },
    socket: {
      connectTimeout: CONNECT_MAX_MS,
      // Covers a connection that was accepted and never greeted. Blocking reads and subscribers send something more often.
      socketTimeout: IDLE_MAX_MS,
      reconnectStrategy: (retries) => backoffMs(RECONNECT, retries),
      ...trust,
    },
  });
}

export type RedisClient = ReturnType<typeof makeClient>;

/** What the nodes of one installation share in Redis. */
export interface Redis {
  /**
   * The current connection: do not keep it. Commands fail at once while it is down, and after two seconds without an answer.
   */
  readonly client: RedisClient;
  /** False while commands would fail. */
  connected(): boolean;
  /** What is wrong, in one sentence: it does not answer, or its user lacks a right. Null while there is nothing. */
  problem(): string | null;
  /** True for an error of a command whose cause `problem` tells, and has told the log. */
  explains(error: unknown): boolean;
  /**
   * Name of a key. Keys with the same group live on one node of a cluster, so that one script may touch them together.
   * @param group a venue, or the owner of the key
   */
  key(group: string, name: string): string;
  /** Name of a channel. */
  channel(name: string): string;
  /**
   * Another connection, for blocking reads and subscriptions; it connects and reconnects by itself. The caller closes it
   * (`destroy`) and has to notice when it becomes silent.
   */
  another(): RedisClient;
  /** Calls back whenever the connection is ready, including the first time; the returned function unsubscribes. */
  onReady(callback: () => void): () => void;
  close(): void;
}

const UNREACHABLE = "Redis does not answer";
const UNTRUSTED = "no trusted connection to Redis; check REDIS_CA_FILE and the certificate of the server";
const UNKNOWN_USER = "Redis refuses the user or the password of REDIS_URL";

/** Why there is no connection. */
function reasonOf(error: unknown): string {
  if (isRefusal(error)) return sentenceOfRefusal(error);
  if (error instanceof ErrorReply && /^(WRONGPASS|NOAUTH)/.test(error.message)) return UNKNOWN_USER;
  return isTlsProblem(error) ? UNTRUSTED : UNREACHABLE;
}

/** Opens the connection in the background: a node starts and works as far as possible while Redis is unreachable. */
export function openRedis({ url, caFile, prefix, log }: RedisOptions): Redis {
  const ca = caFile === undefined ? undefined : readFileSync(caFile, "utf8");
  /** Why there is no connection; undefined while there is one. */
  let away: string | undefined;
  /** What the user of the connection lacks. */
  let lack: string | null = null;
  const key: Redis["key"] = (group, name) => `${prefix}:{${group}}:${name}`;
  const channel: Redis["channel"] = (name) => `${prefix}:${name}`;

  function open(): RedisClient {
    const client = makeClient(url, ca);
    client.on("error", (error: unknown) => {
      const reason = reasonOf(error);
      // An answer of the server has no stack that says more.
      if (away === undefined) log.warn(error instanceof ErrorReply ? {} : { err: error }, `${reason}; reconnecting`);
      away = reason;
    });
    client.on("ready", () => {
      if (away !== undefined) log.info("Redis is back");
      away = undefined;
    });
    // It rejects only when the client is destroyed before it was ever connected.
    client.connect().catch(() => undefined);
    return client;
  }

  const closing = new AbortController();
  let current: RedisClient;
  const callbacks = new Set<() => void>();

  /** Rights can change while the connection stays. */
  async function look(client: RedisClient): Promise<void> {
    // A server that does not answer, or is too old to say, has told nothing.
    const found = await lackOf({ client, key, channel }).catch(() => lack);
    if (found === lack || client !== current) return;
    lack = found;
    if (found === null) log.info("Redis refuses its user nothing any more");
    else log.warn(found);
  }

  /** A client that keeps writing does not notice a silent server; a ping without an answer replaces the connection. */
  async function watch(client: RedisClient): Promise<void> {
    const until = () => client !== current;
    let lookedMs = systemClock.now();
    await repeat({ clock: systemClock, signal: closing.signal, pause: PING_INTERVAL_MS, until }, async () => {
      if (!client.isReady) return;
      if (systemClock.now() - lookedMs >= RIGHTS_INTERVAL_MS) {
        lookedMs = systemClock.now();
        void look(client);
      }
      await withTimeout(client.ping(), SILENCE_MAX_MS, systemClock, closing.signal).catch((error) => {
        // A refused ping is an answer too.
        if (!isRefusal(error) && client.isReady && !closing.signal.aborted) renew();
      });
    });
  }

  function renew(): void {
    const before = current as RedisClient | undefined;
    const client = open();
    current = client;
    client.on("ready", () => {
      // Before any other command, so that its problem is known when they are refused.
      void look(client);
      for (const callback of callbacks) callback();
    });
    if (before?.isOpen) before.destroy();
    void watch(client);
  }
  renew();

  return {
    get client() {
      return current;
    },
    connected: () => current.isReady,
    problem: () => (current.isReady ? lack : (away ?? UNREACHABLE)),
    explains: (error) => !current.isReady || isRefusal(error),
    key,
    channel,
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
