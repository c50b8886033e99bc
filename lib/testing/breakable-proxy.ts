import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A port of this machine on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A way to a server that can be opened and shut. */
export interface BreakableProxy {
  /** The server's URL, through the door. */
  readonly url: string;
  open(): Promise<void>;
  /** Nobody comes through any more; breaks what goes through it now. */
  shut(): void;
  /** Who comes from now on is led to the server at this URL, as when one was started again at another port. */
  leadTo(server: string): void;
  /** What goes through it now goes no further, and nobody is told: a network that has become silent. */
  silence(): void;
  /** The same, and who comes from now on is let in and never answered, until `speak`. */
  fallSilent(): void;
  /** Ends that: connections from before are broken, new ones go through. */
  speak(): void;
}

/** Makes a door to the server at this URL, which must name its port; it is shut at first, and when the test is over. */
export async function proxyTo(server: string): Promise<BreakableProxy> {
  const door = await makeProxy(server);
  onTestFinished(door.shut);
  return door;
}

/** The same for what lives longer than a test; whoever makes it shuts it. */
export async function makeProxy(server: string): Promise<BreakableProxy> {
  const { host } = new URL(server);
  let target = new URL(server);
  let silent = false;
  const port = await closedPort();
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
