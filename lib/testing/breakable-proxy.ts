import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { reservePort } from "./ports";

/** A proxy to a server that can be opened and shut. */
export interface BreakableProxy {
  /** The server's URL through the proxy. */
  readonly url: string;
  open(): Promise<void>;
  /** Refuses new connections and breaks the current ones. */
  shut(): void;
  /** Sends new connections to the server at this URL, for one that was restarted on another port. */
  leadTo(server: string): void;
  /** Stops forwarding on the current connections without closing them: a network that has become silent. */
  silence(): void;
  /** The same, and new connections are accepted but never answered, until `speak`. */
  fallSilent(): void;
  /** Ends the silence: earlier connections break, new ones work. */
  speak(): void;
}

/** Creates a proxy to the server at this URL, which must contain its port; it is shut at first, and after the test. */
export async function proxyTo(server: string): Promise<BreakableProxy> {
  const door = await makeProxy(server);
  onTestFinished(door.shut);
  return door;
}

/** The same for a use longer than one test; the caller shuts it. */
export async function makeProxy(server: string): Promise<BreakableProxy> {
  const { host } = new URL(server);
  let target = new URL(server);
  let silent = false;
  const port = await reservePort();
  const sockets = new Set<Socket>();
  const silence = () => {
    for (const socket of sockets) socket.unpipe().resume();
  };
  const door = createServer((socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)));
    socket.on("error", () => undefined);
    if (silent) return void socket.resume();
    const onward = connect(Number(target.port), target.hostname);
    socket.pipe(onward).pipe(socket);
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
    socket.on("close", () => onward.destroy());
  });
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: server.replace(host, `127.0.0.1:${port}`),
    open: () => new Promise<void>((resolve) => door.listen(port, "127.0.0.1", resolve)),
    shut() {
      door.close();
      breakAll();
    },
    leadTo(next) {
      target = new URL(next);
    },
    silence,
    fallSilent() {
      silent = true;
      silence();
    },
    speak() {
      silent = false;
      breakAll();
    },
  };
}
