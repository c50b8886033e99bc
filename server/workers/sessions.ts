import { once } from "node:events";
import { rm } from "node:fs/promises";
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "#lib/clock";
import { HEADERS_MAX_BYTES } from "#lib/contract/limits";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { ADDRESS_HEADER } from "#server/pages/visitor";
import { createClientQueue } from "#server/processes/client-queue";
import { createForwarder, type Listener } from "#server/processes/forward";
import { createSend } from "#server/processes/send";
import { passUpgrade } from "#server/processes/upgrade";
import { workerOfSession } from "#server/socket/session-ids";
import type { Streams } from "#server/socket/streams";

/** Requests to one other worker at a time: each poll waits there for the next message. */
const POLLS = { runningMaxCount: 4_096, waitingMaxCount: 64, clientWaitingMaxCount: 64 };
/** What Engine.IO answers for a session that it does not know; clients then open another one. */
const UNKNOWN_SESSION = JSON.stringify({ code: 1, message: "Session ID unknown" });

type AddressOf = (request: IncomingMessage) => string;

interface SessionRoutesOptions {
  /** The number of this worker. */
  readonly worker: number;
  /** Path of the socket at which a worker serves sessions to the others. */
  readonly pathOf: (worker: number) => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "refused">;
}

/** The ways of Socket.IO's sessions between the workers. */
interface SessionRoutes {
  /** Reads the client's address also where another worker passed the request on. */
  addressOf(outer: AddressOf): AddressOf;
  /** Serves the sessions of this worker to the others. */
  listen(streams: Streams): Promise<Server>;
  /** The streams, but requests of a session of another worker go there. */
  routed(streams: Streams, addressOf: AddressOf): Streams;
}

function refuseUnknown(_: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) return void response.destroy();
  const headers = { "content-type": "application/json", "access-control-allow-origin": "*" };
  response.writeHead(400, headers).end(UNKNOWN_SESSION);
}

/**
 * Makes the ways. A session of Socket.IO's long polling exists at one worker, but each of its requests, and the upgrade that ends it,
 * may come over a new connection, at another one. Its id names the worker.
 */
export function createSessionRoutes({ worker, pathOf, clock, log, metrics }: SessionRoutesOptions): SessionRoutes {
  /** Connections of other workers. */
  const inner = new WeakSet<object>();
  const forwarders = new Map<number, Listener>();

  function forwarderTo(owner: number): Listener {
    const found = forwarders.get(owner);
    if (found !== undefined) return found;
    const queue = createClientQueue(POLLS);
    queue.open(true);
    const target = { socketPath: pathOf(owner), agent: new Agent({ keepAlive: true }) };
    const send = createSend({ queue, target: () => target, onLost: () => undefined, clock, log, metrics });
    const forwarder = createForwarder(send, refuseUnknown);
    forwarders.set(owner, forwarder);
    return forwarder;
  }

  /** The other worker that has the session of a request; undefined for this one and for requests that open one. */
  function ownerOf({ url = "" }: IncomingMessage): number | undefined {
    const owner = workerOfSession(url);
    return owner === worker ? undefined : owner;
  }

  return {
    addressOf: (outer) => (request) =>
      inner.has(request.socket) ? String(request.headers[ADDRESS_HEADER] ?? "") : outer(request),
    async listen({ socketIo }) {
      // It keeps connections, and the worker where a request came in has limited it.
      const limits = { maxHeaderSize: 2 * HEADERS_MAX_BYTES, keepAliveTimeout: 0, requestTimeout: 0 };
      const server = createServer(limits, socketIo.handleRequest);
      server.on("connection", (socket: Socket) => inner.add(socket));
      server.on("upgrade", socketIo.handleUpgrade);
      const path = pathOf(worker);
      // Of an earlier worker that was killed.
      await rm(path, { force: true });
      server.listen({ path, exclusive: true });
      await once(server, "listening");
      return server;
    },
    routed: (streams, addressOf) => ({
      ...streams,
      socketIo: {
        handleRequest(request, response) {
          const owner = ownerOf(request);
          if (owner === undefined) return streams.socketIo.handleRequest(request, response);
          request.headers[ADDRESS_HEADER] = addressOf(request);
          forwarderTo(owner)(request, response);
        },
        handleUpgrade(request, socket, head) {
          const owner = ownerOf(request);
          if (owner === undefined) streams.socketIo.handleUpgrade(request, socket, head);
          else passUpgrade(request, socket, head, { socketPath: pathOf(owner), address: addressOf(request) });
        },
      },
    }),
  };
}
