import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import type { Clock } from "#lib/clock";
import { UPLOAD_PART_MAX_BYTES } from "#lib/contract/portal-import";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { memoryShares } from "#lib/memory-shares";
import type { Metrics } from "#lib/metrics";
import { memoryBytes } from "#server/env";
import { SHARED_HEADER } from "#server/pages/shared-pages";
import { createSessionCheck } from "#server/pages/sign-in/session-user";
import { startChild } from "#server/processes/child";
import { createClientQueue } from "#server/processes/client-queue";
import { createForwarder, type Listener } from "#server/processes/forward";
import type { ParentAnswers } from "#server/processes/parent";
import { createSend, type Target } from "#server/processes/send";
import { passUpgrade } from "#server/processes/upgrade";
import { PING_EVERY_MS } from "#server/processes/watch";
import { readKnownRoutes } from "./known-routes";
import { createPageCache, type PageLimit, type PageReader } from "./page-cache";
import type { MarketAnswers, PortalStart } from "./questions";

/**
 * Half of the space for new objects. V8's 16 MiB keep 80 MB more resident after an hour of page reads, in exchange for some 5 % of
 * the processor time of a page.
 */
const SEMI_SPACE_MAX_MIB = 2;
const QUEUE = { runningMaxCount: 5, waitingMaxCount: 512, clientWaitingMaxCount: 64 };
/** Sign-in and signed-in readers, whom no stranger can keep waiting. */
const ACCOUNT_QUEUE = { runningMaxCount: 3, waitingMaxCount: 256, clientWaitingMaxCount: 64 };
/** Where next-auth answers. It has limits of its own, counted before a request gets here. */
const AUTH_PREFIX = "/api/auth/";
/** Where operators send files of history. */
const UPLOAD_PREFIX = "/api/portal/admin/upload/files/";
const STOP_MAX_MS = 2_000;
/** It names every page of the docs. */
const SITEMAP = "/sitemap.xml";

interface PortalOptions {
  readonly env: Pick<Env, "NODE_ENV" | "PUBLIC_URL">;
  /** The installation's secret, which signs sessions. */
  readonly secret: string;
  readonly answers: Omit<MarketAnswers, keyof ParentAnswers<string>>;
  /** Whether a venue lists this ticker now. */
  readonly isListed: (ticker: string) => boolean;
  /** Counts what readers ask who are not signed in. */
  readonly limit: PageLimit;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "refused">;
}

type StartOptions = Omit<PortalStart, "socketPath">;

/** The portal's process, seen from the market process. */
export interface Portal {
  /** Path of a socket at which the market process can listen for its calls. */
  readonly requestsPath: Promise<string>;
  /** Lets it work, once the database is open; resolves when the first one serves pages, or could not in time. */
  start(options: StartOptions): Promise<void>;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Hot reload, in development; false when there is nothing to pass it to. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /**
   * The text of a shared page; undefined where there is none, and in development, where none is kept.
   * @throws Fault service_unavailable while it is starting or busy
   */
  read(path: string, reader: PageReader): Promise<string | undefined>;
  /** The metrics of its process, as Prometheus text; empty when it does not answer. */
  metrics(): Promise<string>;
  /** Ends it after the requests in flight. */
  stop(): Promise<void>;
}

/** Starts the program again with the roles of the portal's process. */
function forkPortal({ NODE_ENV }: Pick<Env, "NODE_ENV">): ChildProcess {
  const [, program = ""] = process.argv;
  const execArgv = [
    ...process.execArgv.filter((flag) => !flag.startsWith("--inspect")),
    `--max-old-space-size=${memoryShares(memoryBytes()).portalHeapMiB}`,
    `--max-semi-space-size=${SEMI_SPACE_MAX_MIB}`,
  ];
  return fork(program, ["portal", "jobs"], {
    execArgv,
    stdio: ["ignore", "inherit", NODE_ENV === "development" ? "inherit" : "pipe", "ipc"],
  });
}

/**
 * Starts the portal's process and keeps it running: it is started again when it ends, and ended when it hangs. The market waits
 * for it in nothing but `start`.
 */
export function startPortal(options: PortalOptions): Portal {
  const { env, clock, log, metrics } = options;
  const [queue, accountQueue] = [createClientQueue(QUEUE), createClientQueue(ACCOUNT_QUEUE)];
  const open = (isOpen: boolean) => {
    accountQueue.open(isOpen);
    queue.open(isOpen);
  };
  const folder = mkdtemp(path.join(tmpdir(), "spotwire-"));
  // The first one loads Next while the database is opened.
  const child = startChild<PortalStart, string, string>({
    name: "the portal's process",
    kind: "portal",
    fork: () => forkPortal(env),
    answers: options.answers,
    stopMaxMs: STOP_MAX_MS,
    clock,
    log,
  });
  let target: Target | undefined;

  /** Lets requests through to the process that listens at this socket, until it has ended. */
  function serve(socketPath: string): () => void {
    const agent = new Agent({ keepAlive: true, maxSockets: QUEUE.runningMaxCount + ACCOUNT_QUEUE.runningMaxCount });
    target = { socketPath, agent };
    cache?.renew();
    open(true);
    void learnRoutes();
    return () => {
      open(false);
      target = undefined;
      agent.destroy();
    };
  }

  let doubted: Target | undefined;
  /** Lets no request begin at a target that gave no answer, until its process answers or is known to have ended. */
  async function doubt(lost: Target): Promise<void> {
    if (lost !== target || lost === doubted) return;
    doubted = lost;
    open(false);
    while (target === lost && !(await child.responds())) await clock.wait(PING_EVERY_MS, child.ended());
    doubted = undefined;
    if (target === lost) open(true);
  }

  const sending = { target: () => target, onLost: (lost: Target) => void doubt(lost), clock, log, metrics };
  const send = createSend({ ...sending, queue });
  const forward = createForwarder(send);
  const sendAccount = createSend({ ...sending, queue: accountQueue });
  const forwardAccount = createForwarder(sendAccount);
  // Parts of files are larger than forms, and come from signed-in readers alone.
  const forwardPart = createForwarder(sendAccount, undefined, UPLOAD_PART_MAX_BYTES);
  // In development pages change as their sources do, and so do routes.
  const routes = env.NODE_ENV === "development" ? undefined : readKnownRoutes(options.isListed);
  const cache = routes && createPageCache({ env, send, isRoute: routes.has, forward, limit: options.limit, clock });
  const serveStranger = cache?.handle ?? forward;
  const isSignedIn = createSessionCheck(env, options.secret);

  async function learnRoutes(): Promise<void> {
    const sitemap = await cache?.read(SITEMAP, { host: "localhost", address: "" }).catch(() => undefined);
    if (sitemap !== undefined) routes?.learn(sitemap);
  }

  function serveAccount(request: IncomingMessage, response: ServerResponse): void {
    delete request.headers[SHARED_HEADER];
    forwardAccount(request, response);
  }

  function serveSignedIn(request: IncomingMessage, response: ServerResponse): void {
    if (request.url?.startsWith(UPLOAD_PREFIX)) forwardPart(request, response);
    else serveAccount(request, response);
  }

  /** Account requests and signed-in readers have a lane of their own. */
  const handle: Listener = (request, response) => {
    const plain = routes?.plain(request.url ?? "/");
    if (plain !== undefined) {
      request.resume();
      response.writeHead(308, { location: plain }).end();
      return;
    }
    if (request.url?.startsWith(AUTH_PREFIX)) return serveAccount(request, response);
    const signedIn = isSignedIn(request.headers.cookie);
    if (signedIn instanceof Promise) void signedIn.then((is) => (is ? serveSignedIn : serveStranger)(request, response));
    else if (signedIn) serveSignedIn(request, response);
    else serveStranger(request, response);
  };
  return {
    requestsPath: folder.then((own) => path.join(own, "market.sock")),
    async start(start) {
      const own = await folder;
      let starts = 0;
      const next = () => {
        starts += 1;
        return { ...start, socketPath: path.join(own, `${starts}.sock`) };
      };
      await child.run(next, serve).catch(() => undefined);
    },
    handle,
    read: async (path, reader) => cache?.read(path, reader),
    upgrade(request, socket, head) {
      if (target === undefined) return false;
      passUpgrade(request, socket, head, { socketPath: target.socketPath });
      return true;
    },
    metrics: async () => (await child.metrics()) ?? "",
    async stop() {
      await child.stop();
      await rm(await folder, { recursive: true, force: true });
    },
  };
}
