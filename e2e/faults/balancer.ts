import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const LOOK_INTERVAL_MS = 250;
const LOOK_MAX_MS = 1_000;

/** A URL that forwards to one of several edges, like a load balancer in front of them. */
export interface Balancer {
  readonly url: string;
  close(): void;
}

async function isReady(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(LOOK_MAX_MS);
  return fetch(`${url}/api/ready`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Forwards each connection to the first of `urls` that reports ready, and keeps no other state: nothing is sticky. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let ready: readonly string[] = urls;
  let looking = false;
  const timer = setInterval(async () => {
    if (looking) return;
    looking = true;
    const found = await Promise.all(urls.map(isReady));
    ready = urls.filter((_, index) => found[index]);
    looking = false;
  }, LOOK_INTERVAL_MS);

  const server = createServer((socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)));
    socket.on("error", () => undefined);
    const { port, hostname } = new URL(ready[0] ?? urls[0] ?? "");
    const onward = connect(Number(port), hostname);
    socket.pipe(onward).pipe(socket);
    onward.on("error", () => socket.destroy());
    onward.on("close", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      clearInterval(timer);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
