import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "@redis/client";
import type { ServerCertificate } from "./certificates";
import { findOnPath, REDIS_SERVERS } from "./packages";
import { reservePort } from "./ports";

const START_MAX_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** A Redis or Valkey server of this machine. Undefined where there is none: tests that need it are then skipped, and say so. */
export const findRedis = (): string | undefined => findOnPath(REDIS_SERVERS);

/** A separate server on loopback, which stores nothing on disk. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Path of a socket at which it also listens. */
  readonly socket: string;
  /** Process id of the running server. */
  pid(): number;
  /** Kills it with all of its data; `start` starts an empty one at the same address. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

async function awaitAnswer(url: string, ca: string | undefined): Promise<void> {
  const untilMs = Date.now() + START_MAX_MS;
  // The certificate may name another host on purpose.
  const trust = ca === undefined ? {} : { tls: true as const, ca, checkServerIdentity: () => undefined };
  for (;;) {
    const client = createClient({ url, socket: { reconnectStrategy: false, ...trust } });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.ping();
      return;
    } catch (error) {
      if (Date.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    } finally {
      if (client.isOpen) client.destroy();
    }
  }
}

/** The options of a server that takes TLS connections only. */
const tlsOptions = (port: number, { certFile, keyFile, caFile }: ServerCertificate) => [
  "--port",
  "0",
  "--tls-port",
  `${port}`,
  "--tls-cert-file",
  certFile,
  "--tls-key-file",
  keyFile,
  "--tls-ca-cert-file",
  caFile,
  "--tls-auth-clients",
  "no",
];

/** Starts a server; `program` is the result of findRedis. With a certificate it takes TLS connections only. */
export async function startRedis(program: string, certificate?: ServerCertificate): Promise<RedisServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-redis-"));
  const port = await reservePort();
  const socket = path.join(folder, "redis.sock");
  const url = certificate === undefined ? `redis://127.0.0.1:${port}` : `rediss://localhost:${port}`;
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const listens = certificate === undefined ? ["--port", `${port}`] : tlsOptions(port, certificate);
    const options = [
      ...listens,
      "--unixsocket",
      socket,
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      folder,
    ];
    child = spawn(program, options, { stdio: "ignore" });
    await awaitAnswer(url, certificate?.ca);
  }

  async function kill(): Promise<void> {
    const dying = child;
    child = undefined;
    if (dying === undefined || dying.exitCode !== null) return;
    const gone = new Promise((resolve) => dying.once("exit", resolve));
    dying.kill("SIGKILL");
    await gone;
  }

  await start();
  return {
    url,
    port,
    socket,
    pid: () => child?.pid ?? 0,
    kill,
    start,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
