import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/** Below the ports that systems give to whoever asks for any: neither a connection nor a server with port 0 ever takes one of these. */
const [FIRST, LAST] = [15_000, 30_000];

/** Resolves to whether a UDP socket has this port now. It holds it until this process ends. */
const claim = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", () => resolve(false));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(Boolean(socket.unref())));
  });

const canListen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

let next = FIRST + (process.pid % (LAST - FIRST));

/**
 * A TCP port of this machine on which nothing listens, for a program that cannot be given port 0. Nobody else gets it while this process
 * runs: the UDP port of the same number says on the whole machine that it is taken.
 */
export async function reservePort(): Promise<number> {
  for (let tried = FIRST; tried < LAST; tried += 1) {
    const port = next;
    next = port + 1 < LAST ? port + 1 : FIRST;
    if ((await claim(port)) && (await canListen(port))) return port;
  }
  throw new Error(`No port from ${FIRST} to ${LAST} is free.`);
}
