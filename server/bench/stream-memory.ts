import type { Child } from "./child";
import { answerCalls } from "./stream-calls";

/** Memory of a process after its garbage was collected, bytes. */
export interface Memory {
  /** What the system has given it. */
  readonly resident: number;
  /** What its objects and buffers take. */
  readonly used: number;
}

/** Lets the bench ask this process for its memory. */
export function answerMemory(): void {
  answerCalls({
    memory(): Memory {
      // Twice: what the first round frees may hold more.
      globalThis.gc?.();
      globalThis.gc?.();
      const { rss, heapUsed, external } = process.memoryUsage();
      return { resident: rss, used: heapUsed + external };
    },
  });
}

/** The memory of a process that answers for it. */
export function memoryOf(child: Child): Promise<Memory> {
  return child.call<Memory>("memory");
}
