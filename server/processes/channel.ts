import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import { withTimeout } from "#lib/with-timeout";

/** Questions that may wait for an answer; pages share what they ask, so more means that nobody answers. */
const PENDING_MAX_COUNT = 64;
const ANSWER_MAX_MS = 5_000;
const RETRY_AFTER_S = 1;

/** What one side answers, by name. Arguments and results pass as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each side declares its own arguments, and `ask` checks them
export type Answers = Readonly<Record<string, (...input: any[]) => unknown>>;

/** A process at the other end of Node's channel between parent and child: a ChildProcess, or `process` in the child. */
export interface ProcessEnd {
  send?(message: object, callback?: (error: Error | null) => void): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
  on(event: "disconnect", listener: () => void): unknown;
}

/** One side of the conversation between the market process and the portal's, or an edge worker. */
export interface Channel<Theirs extends Answers> {
  /**
   * Asks the other process.
   * @throws Fault service_unavailable when it does not answer in time, too many questions wait, or it has ended; Error with its
   * message when it failed
   */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    ...input: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>>;
}

/** Functions of these names that each make the same call: a question to another process, or to a part that starts later. */
export function calling<Theirs extends Answers>(
  names: readonly (keyof Theirs & string)[],
  call: <Name extends keyof Theirs & string>(name: Name, ...input: Parameters<Theirs[Name]>) => unknown,
): Theirs {
  const made = names.map((name) => [name, (...input: Parameters<Theirs[typeof name]>) => call(name, ...input)]);
  return Object.fromEntries(made) as Theirs;
}

type Message =
  | { readonly kind: "ask"; readonly id: number; readonly name: string; readonly input: readonly unknown[] }
  | { readonly kind: "answer"; readonly id: number; readonly value?: unknown; readonly failed?: string };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

function unavailable(detail: string): Fault {
  return new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
}

/**
 * Opens this side of the channel. Only the process at its other end can use it: it is a socket pair that no path leads to.
 * @param mine what this side answers
 * @param pendingMaxCount questions that may wait for an answer
 */
export function openChannel<Theirs extends Answers>(
  end: ProcessEnd,
  mine: Answers,
  clock: Clock,
  pendingMaxCount = PENDING_MAX_COUNT,
): Channel<Theirs> {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let ended = false;

  const send = (message: Message) => end.send?.(message, () => undefined);

  async function answer({ id, name, input }: Message & { kind: "ask" }): Promise<void> {
    try {
      const value = await mine[name]?.(...input);
      send({ kind: "answer", id, value });
    } catch (error) {
      send({ kind: "answer", id, failed: error instanceof Error ? error.message : String(error) });
    }
  }

  end.on("message", (message) => {
    const received = message as Message;
    if (received.kind === "ask") return void answer(received);
    const asking = waiting.get(received.id);
    waiting.delete(received.id);
    if (received.failed === undefined) asking?.resolve(received.value);
    else asking?.reject(new Error(received.failed));
  });
  end.on("disconnect", () => {
    ended = true;
    for (const { reject } of waiting.values()) reject(unavailable("The other process has ended."));
    waiting.clear();
  });

  return {
    async ask(name, ...input) {
      if (ended) throw unavailable("The other process has ended.");
      if (waiting.size >= pendingMaxCount) throw unavailable("Too many questions wait for the other process.");
      asked += 1;
      const id = asked;
      const answered = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
      send({ kind: "ask", id, name, input });
      try {
        return (await withTimeout(answered, ANSWER_MAX_MS, clock)) as never;
      } catch (error) {
        if (waiting.has(id)) throw unavailable("The other process does not answer.");
        throw error;
      } finally {
        waiting.delete(id);
      }
    },
  };
}
