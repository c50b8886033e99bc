import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Requests of one connection that may wait for the answer before them. */
export const PIPELINED_MAX_COUNT = 32;

interface InOrderOptions {
  handle: Listener;
  /** Called for a connection that was closed because it sent more than PIPELINED_MAX_COUNT. */
  onRefused: () => void;
}

/**
 * Handles the requests of a connection one after the other: the next one starts when the answer before it has been written, and
 * none starts on a connection that is closed. Node starts all pipelined requests at once and keeps their answers in memory until
 * the client reads them, so that a few kilobytes of requests would hold gigabytes.
 */
export function inOrder({ handle, onRefused }: InOrderOptions): Listener {
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();

  function begin(request: IncomingMessage, response: ServerResponse, queue: [IncomingMessage, ServerResponse][]): void {
    const { socket } = request;
    response.once("close", () => {
      const next = socket.destroyed ? undefined : queue.shift();
      if (next !== undefined) begin(...next, queue);
      else waiting.delete(socket);
    });
    handle(request, response);
  }

  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    if (queue === undefined) {
      const own: [IncomingMessage, ServerResponse][] = [];
      waiting.set(socket, own);
      begin(request, response, own);
    } else if (queue.length < PIPELINED_MAX_COUNT) queue.push([request, response]);
    else if (!socket.destroyed) {
      queue.length = 0;
      onRefused();
      socket.destroy();
    }
  };
}
