import { vi } from "vitest";
import { WebSocket } from "ws";
import type { Node } from "./node";

const LISTENING = /Debugger listening on (ws:\/\/\S+)/g;
const LOOK = { interval: 20, timeout: 10_000 };
const USED = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

/** What a process holds. */
export interface Memory {
  readonly pid: number;
  /** What lives, all garbage collected, bytes. */
  readonly liveBytes: number;
  /** Resident in the machine's memory, bytes; the collector gives back what it does not need when it sees fit. */
  readonly residentBytes: number;
}

/** Variables under which a node's memory can be measured: its inspector opens when it is asked to, at any free port. */
export const MEASURED = { NODE_OPTIONS: "--inspect-port=0" };

/** The address of a node's inspector; the first who asks has it opened. */
async function inspectorOf(node: Node): Promise<string> {
  const spoken = () => [...node.output().matchAll(LISTENING)].at(-1)?.[1];
  if (spoken() === undefined) process.kill(node.pid(), "SIGUSR1");
  return (await vi.waitUntil(spoken, LOOK)) as string;
}

async function collectAndCount(address: string): Promise<number> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let id = 0;
  const call = (method: string, params: object = {}) =>
    new Promise<{ result?: { result?: { value?: number } } }>((resolve) => {
      id += 1;
      const asked = id;
      const take = (data: { toString(): string }) => {
        const answer = JSON.parse(data.toString());
        if (answer.id !== asked) return;
        socket.off("message", take);
        resolve(answer);
      };
      socket.on("message", take);
      socket.send(JSON.stringify({ id: asked, method, params }));
    });
  try {
    await call("HeapProfiler.collectGarbage");
    const { result } = await call("Runtime.evaluate", { expression: USED, returnByValue: true });
    const used = result?.result?.value;
    if (used === undefined) throw new Error("the inspector did not tell how much memory is used");
    return used;
  } finally {
    socket.close();
  }
}

/** Measures a node after its garbage was collected. */
export async function measure(node: Node): Promise<Memory> {
  const liveBytes = await collectAndCount(await inspectorOf(node));
  return { pid: node.pid(), liveBytes, residentBytes: await node.residentBytes() };
}
