import { vi } from "vitest";
import { WebSocket } from "ws";
import type { Node } from "./node";

const LISTENING = /Debugger listening on (ws:\/\/\S+)/g;
const LOOK = { interval: 20 };
const USED = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

/** The memory of a process. */
export interface Memory {
  readonly pid: number;
  /** Live objects after a garbage collection, bytes. */
  readonly liveBytes: number;
  /** Resident memory, bytes; the garbage collector returns unused memory at its own pace. */
  readonly residentBytes: number;
}

/** Variables that make the memory of a node measurable: its inspector opens on request, on any free port. */
export const MEASURED = { NODE_OPTIONS: "--inspect-port=0" };

/** The parts of a node that a measurement needs. */
type Measured = Pick<Node, "pid" | "output" | "residentBytes">;

/** The URL of a node's inspector, which opens at the first call. */
async function inspectorOf(node: Measured): Promise<string> {
  const printed = () => [...node.output().matchAll(LISTENING)].at(-1)?.[1];
  if (printed() === undefined) process.kill(node.pid(), "SIGUSR1");
  return (await vi.waitUntil(printed, LOOK)) as string;
}

async function collectAndCount(address: string): Promise<number> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let id = 0;
  const call = (method: string, params: object = {}) =>
    new Promise<{ result?: { result?: { value?: number } } }>((resolve) => {
      id += 1;
      const own = id;
      const take = (data: { toString(): string }) => {
        const answer = JSON.parse(data.toString());
        if (answer.id !== own) return;
        socket.off("message", take);
        resolve(answer);
      };
      socket.on("message", take);
      socket.send(JSON.stringify({ id: own, method, params }));
    });
  try {
    await call("HeapProfiler.collectGarbage");
    const { result } = await call("Runtime.evaluate", { expression: USED, returnByValue: true });
    const used = result?.result?.value;
    if (used === undefined) throw new Error("the inspector returned no memory usage");
    return used;
  } finally {
    socket.close();
  }
}

/** Measures a node after a garbage collection. */
export async function measure(node: Measured): Promise<Memory> {
  const liveBytes = await collectAndCount(await inspectorOf(node));
  return { pid: node.pid(), liveBytes, residentBytes: await node.residentBytes() };
}
