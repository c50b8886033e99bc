import type { ChildProcess } from "node:child_process";

/** A call times out after this: the longest is a whole bench. */
const ANSWER_MAX_MS = 1_800_000;

/** The methods of a process, by name. */
type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

interface Question {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Answers the calls of the parent process, and exits cleanly when the parent is gone. */
export function answerCalls(handlers: Handlers): void {
  async function answer({ id, method, argument }: Question): Promise<Answer> {
    try {
      const handler = handlers[method];
      if (handler === undefined) throw new Error(`unknown method "${method}"`);
      return { id, result: await handler(argument as never) };
    } catch (error) {
      return { id, error: error instanceof Error ? error.message : String(error) };
    }
  }
  process.on("message", (question: Question) => void answer(question).then((given) => process.send?.(given)));
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
}

/** Makes the function that calls a child process; a call rejects when it fails, when the child ends, or after ten minutes. */
export function createCaller(child: ChildProcess): <Result>(method: string, argument?: unknown) => Promise<Result> {
  const waiting = new Map<number, (answer: Answer) => void>();
  let calls = 0;
  child.on("message", (answer: Answer) => waiting.get(answer.id)?.(answer));
  child.once("exit", () => {
    for (const [id, settle] of waiting) settle({ id, error: "the process ended" });
  });
  return <Result>(method: string, argument?: unknown) =>
    new Promise<Result>((resolve, reject) => {
      calls += 1;
      const id = calls;
      const settle = ({ result, error }: Omit<Answer, "id">) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (error === undefined) resolve(result as Result);
        else reject(new Error(`${method}: ${error}`));
      };
      const timer = setTimeout(() => settle({ error: "no reply" }), ANSWER_MAX_MS);
      waiting.set(id, settle);
      const question: Question = { id, method, argument };
      child.send(question, (error) => error && settle({ error: error.message }));
    });
}
