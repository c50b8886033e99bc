import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { createInbox, type Inbox } from "#lib/testing/scripted-service";
import type { Python } from "./pythons";

const PROGRAM = path.join(import.meta.dirname, "driver.py");

/** A raised SpotwireError, as the driver shows it. */
export interface Raised {
  readonly kind: string;
  readonly id: string;
  readonly detail: string;
  readonly code: number | null;
  readonly status: number | null;
  readonly request_id: string | null;
  readonly retry_after: number | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly cause: string | null;
  readonly text: string;
}

/** What a command came to. */
interface Outcome {
  readonly value?: unknown;
  readonly error?: Raised;
  readonly cancelled?: true;
}

const EVENTS = ["record", "gap", "error", "close", "state", "status", "heartbeat", "open", "log"] as const;

/** The Python client in a process of its own, moved by commands. */
export interface Driver {
  readonly events: Readonly<Record<(typeof EVENTS)[number], Inbox<Record<string, unknown>>>>;
  /** Runs a command to its end. */
  run(command: string, values?: object): Promise<Outcome>;
  /** The same for a method of the client. */
  call(name: string, args?: readonly unknown[], kwargs?: object): Promise<Outcome>;
  /** Starts a command; `id` cancels it. */
  start(command: string, values?: object): { readonly id: number; readonly outcome: Promise<Outcome> };
  /** Resolves once something waits for this many seconds. */
  waitingFor(seconds: number): Promise<void>;
  /** Waits for exactly this wait and ends it. */
  pass(seconds: number): Promise<void>;
  /** The current waits, in seconds. */
  readonly waits: readonly number[];
  /** Forgets the events of the last test. */
  clear(): void;
  stop(): void;
}

/** Starts the driver. */
export function startDriver(python: Python): Driver {
  const child = spawn(python.command, [PROGRAM], {
    env: { ...process.env, ...python.env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const inboxes = () => Object.fromEntries(EVENTS.map((name) => [name, createInbox<Record<string, unknown>>()]));
  const events = inboxes() as Record<(typeof EVENTS)[number], Inbox<Record<string, unknown>>>;
  const running = new Map<number, (outcome: Outcome) => void>();
  let waits: number[] = [];
  let watchers: { seconds: number; resolve: () => void }[] = [];
  let lastId = 0;

  function waiting(seconds: number): void {
    waits.push(seconds);
    const due = watchers.filter((watcher) => watcher.seconds === seconds);
    watchers = watchers.filter((watcher) => watcher.seconds !== seconds);
    for (const { resolve } of due) resolve();
  }

  function settle(id: number, outcome: Outcome): void {
    running.get(id)?.(outcome);
    running.delete(id);
  }

  createInterface({ input: child.stdout }).on("line", (line) => {
    const { event, id, s, value, error } = JSON.parse(line);
    if (event === "wait") waiting(s);
    else if (event === "waited") waits.splice(waits.indexOf(s), 1);
    else if (event === "result") settle(id, { value });
    else if (event === "raised") settle(id, { error });
    else if (event === "cancelled") settle(id, { cancelled: true });
    else if (event === "broke") settle(id, { error: { id: "broke", detail: error } as Raised });
    else events[event as (typeof EVENTS)[number]].put(value);
  });

  function start(command: string, values: object = {}) {
    lastId += 1;
    const id = lastId;
    const outcome = new Promise<Outcome>((resolve) => running.set(id, resolve));
    child.stdin.write(`${JSON.stringify({ id, do: command, ...values })}\n`);
    return { id, outcome };
  }
  const run = (command: string, values?: object) => start(command, values).outcome;
  const waitingFor = (seconds: number) =>
    new Promise<void>((resolve) => {
      if (waits.includes(seconds)) resolve();
      else watchers.push({ seconds, resolve });
    });

  return {
    events,
    run,
    start,
    call: (name, args = [], kwargs = {}) => run("call", { name, args, kwargs }),
    waitingFor,
    async pass(seconds) {
      await waitingFor(seconds);
      await run("advance", { s: seconds });
    },
    get waits() {
      return waits;
    },
    clear() {
      waits = [];
      watchers = [];
      Object.assign(events, inboxes());
    },
    stop: () => child.kill(),
  };
}
