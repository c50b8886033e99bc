import type { Child } from "./child";
import { answerCalls } from "./stream-calls";

/** Memory of a process after a garbage collection, bytes. */
export interface Memory {
  /** Resident memory. */
  readonly resident: number;
  /** Memory of its objects and buffers. */
  readonly used: number;
}

/** Lets the bench request the memory of this process. */
export function answerMemory(): void {
  answerCalls({
    memory(): Memory {
      // Twice, because the first collection can make more objects collectable.
      globalThis.gc?.();
      globalThis.gc?.();
      const { rss, heapUsed, external } = process.memoryUsage();
      return { resident: rss, used: heapUsed + external };
    },
  });
}

/** Requests the memory of a process. */
export function memoryOf(child: Child): Promise<Memory> {
  return child.call<Memory>("memory");
}
