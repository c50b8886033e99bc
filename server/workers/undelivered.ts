import type { Worker } from "node:cluster";

/** A connection as Node's cluster passes it on: the handle below a socket. */
interface Connection {
  close(): void;
}

type Send = (message: object, ...rest: readonly unknown[]) => boolean;

/** Our own messages pass a callback in this position. */
const isConnection = (sent: unknown): sent is Connection => typeof sent === "object" && sent !== null && "close" in sent;

/**
 * Remembers the connection that is on its way to a worker, and returns a function that closes it when the worker has ended. Node
 * waits for the worker's answer before it lets go of a connection or sends the next one (`handoff` in
 * lib/internal/cluster/round_robin_handle.js). If the worker ends without answering, the client would wait forever.
 */
export function closesUndelivered(child: Worker["process"]): () => void {
  const send = child.send.bind(child) as Send;
  let last: Connection | undefined;
  const remembering: Send = (message, ...rest) => {
    const [sent] = rest;
    if (isConnection(sent)) last = sent;
    return send(message, ...rest);
  };
  child.send = remembering as typeof child.send;
  // A delivered connection is already closed on this side, and closing it again does nothing.
  return () => last?.close();
}
