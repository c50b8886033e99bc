import type { Clock } from "#lib/clock";
import { type Answers, openChannel } from "./channel";

/** What a process that has started another one answers to it. */
export type ParentAnswers<Ready> = {
  /** The child is ready for its start options. Node's cluster module drops messages that are sent before that. */
  begin(): void;
  /** The child serves. */
  ready(said: Ready): void;
  /** The child could not start, and ends. */
  failed(reason: string): void;
};

/** What a process answers to the one that has started it. */
export type ChildAnswers<Start, Numbers> = {
  /** Starts what needs these options. */
  start(options: Start): void;
  /** Proves that its event loop runs. */
  ping(): void;
  metrics(): Promise<Numbers>;
  /** Stops it after the requests in flight. */
  stop(): void;
};

interface ParentOptions<Numbers> {
  readonly metrics: () => Promise<Numbers>;
  /** Ends this process. */
  readonly leave: (code: number) => void;
  readonly clock: Clock;
  /** Questions that may wait for an answer. */
  readonly pendingMaxCount?: number;
}

/**
 * Opens the channel to the process that has started this one. `told` resolves when that process says with what to start; call `serves`
 * once this one does.
 */
export function openParent<Start, Theirs extends ParentAnswers<never> & Answers, Numbers = unknown>(
  options: ParentOptions<Numbers>,
) {
  const { metrics, leave, clock, pendingMaxCount } = options;
  let start: (told: Start) => void = () => undefined;
  const told = new Promise<Start>((resolve) => {
    start = resolve;
  });
  const answers: ChildAnswers<Start, Numbers> = { start, ping: () => undefined, metrics, stop: () => leave(0) };
  const parent = openChannel<Theirs>(process, answers, clock, pendingMaxCount);
  // The process that has started this one may be busy for longer than a question may wait; it hears of it all the same.
  const say = (name: "begin" | "ready", ...said: unknown[]) => void parent.ask(name, ...(said as never)).catch(() => undefined);
  say("begin");
  return { parent, told, serves: (said: Parameters<Theirs["ready"]>[0]) => say("ready", said) };
}
