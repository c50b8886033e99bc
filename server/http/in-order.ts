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

/** The requests of one connection. */
interface Line {
  /** True while one of them is being answered. */
  busy: boolean;
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** Called when an answer has been written: the next request starts. */
  readonly onClose: () => void;
}

/**
 * Handles the requests of a connection one after the other: the next one starts when the answer before it has been written, and
 * none starts on a connection that is closed. Node starts all pipelined requests at once and keeps their answers in memory until
 * the client reads them, so that a few kilobytes of requests would hold gigabytes.
 */
export function inOrder({ handle, onRefused }: InOrderOptions): Listener {
  /** Kept as long as the connection: an entry for each request would cost more than all that is done here. */
  const lines = new WeakMap<Socket, Line>();

  function begin(request: IncomingMessage, response: ServerResponse, line: Line): void {
    line.busy = true;
    response.on("close", line.onClose);
    handle(request, response);
  }

  function open(socket: Socket): Line {
    const line: Line = {
      busy: false,
      waiting: [],
      onClose() {
        const next = socket.destroyed ? undefined : line.waiting.shift();
        if (next === undefined) line.busy = false;
        else begin(...next, line);
      },
    };
    lines.set(socket, line);
    return line;
  }

  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? open(socket);
    if (!line.busy) begin(request, response, line);
    else if (line.waiting.length < PIPELINED_MAX_COUNT) line.waiting.push([request, response]);
    else if (!socket.destroyed) {
      line.waiting.length = 0;
      onRefused();
      socket.destroy();
    }
  };
}
