import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { collectingLog } from "#lib/testing/collecting-log";
import { startChild } from "./child";

type Asked = { readonly id: number; readonly name: string; readonly input: readonly unknown[] };

/** A child process that records what its parent asks, sends what the test gives it, and exits when it is killed. */
class Process extends EventEmitter {
  readonly pid = 7;
  readonly exitCode = null;
  signalCode: string | null = null;
  readonly stderr = null;
  readonly asked: Asked[] = [];

  send(message: Asked): boolean {
    this.asked.push(message);
    return true;
  }

  kill(signal: string): boolean {
    this.signalCode = signal;
    queueMicrotask(() => {
      this.emit("disconnect");
      this.emit("exit");
    });
    return true;
  }

  say(name: string, ...input: readonly unknown[]): void {
    this.emit("message", { kind: "ask", id: 0, name, input });
  }

  /** The first argument of each question of this name. */
  told = (name: string) => this.asked.filter((message) => message.name === name).map(({ input }) => input[0]);
}

function start() {
  const clock = manualClock(0);
  const lines: Record<string, unknown>[] = [];
  const processes: Process[] = [];
  const child = startChild<{ start: number }, string, string>({
    name: "the worker",
    kind: "worker",
    fork() {
      processes.push(new Process());
      return processes.at(-1) as unknown as ChildProcess;
    },
    answers: {},
    stopMaxMs: 2_000,
    clock,
    log: collectingLog(lines, "warn"),
  });
  const serving: string[] = [];
  const run = () => {
    let starts = 0;
    const next = () => {
      starts += 1;
      return { start: starts };
    };
    return child.run(next, (said, pid) => {
      serving.push(`${said} of ${pid}`);
      return () => serving.push(`${said} ended`);
    });
  };
  /** The process that was started as the nth. */
  const nth = (index: number) => processes[index] as Process;
  return { clock, lines, processes, nth, child, run, serving };
}

test("a process gets its start options once it asks for them, and serves once it reports that it is ready", async () => {
  const { clock, nth, run, serving } = start();
  const running = run();
  await clock.advance(10_000);
  expect(nth(0).told("start")).toEqual([]);
  nth(0).say("begin");
  await clock.advance(0);
  expect(nth(0).told("start")).toEqual([{ start: 1 }]);
  nth(0).say("ready", "at 1");
  expect(await running).toBe("at 1");
  expect(serving).toEqual(["at 1 of 7"]);
});

test("one that ends is started again, and what it served is over", async () => {
  const { clock, lines, nth, run, serving } = start();
  const running = run();
  nth(0).say("begin");
  nth(0).say("ready", "at 1");
  await running;
  nth(0).kill("SIGSEGV");
  await clock.advance(100);
  nth(1).say("begin");
  nth(1).say("ready", "at 2");
  await clock.advance(0);
  expect(serving).toEqual(["at 1 of 7", "at 1 ended", "at 2 of 7"]);
  expect(nth(1).told("start")).toEqual([{ start: 2 }]);
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([["the worker ended; starting it again", "exit code SIGSEGV"]]);
});

test("the first one that cannot start says why, and further ones are started", async () => {
  const { clock, processes, nth, run } = start();
  const running = run();
  nth(0).say("begin");
  nth(0).say("failed", "no such database");
  nth(0).kill("SIGTERM");
  await expect(running).rejects.toThrow("no such database");
  await clock.advance(100);
  expect(processes.length).toBe(2);
});

test("one that is not ready in time is ended, and its successor starts after its end", async () => {
  const { clock, processes, nth, run } = start();
  const running = run().catch((error: unknown) => String(error));
  await clock.advance(119_999);
  expect(nth(0).signalCode).toBe(null);
  await clock.advance(1);
  expect(await running).toContain("exit code SIGKILL");
  await clock.advance(100);
  expect(processes.length).toBe(2);
});

test("a stop asks first, ends by force what takes longer, and starts nothing again", async () => {
  const { clock, lines, processes, nth, child, run } = start();
  const running = run();
  nth(0).say("begin");
  nth(0).say("ready", "at 1");
  await running;
  const stopping = child.stop();
  await clock.advance(1_999);
  expect(nth(0).told("stop").length).toBe(1);
  expect(nth(0).signalCode).toBe(null);
  await clock.advance(1);
  await stopping;
  expect(nth(0).signalCode).toBe("SIGKILL");
  await clock.advance(60_000);
  expect(processes.length).toBe(1);
  expect(lines.map(({ msg }) => msg)).toEqual(["the worker does not stop; ending it"]);
});

test("a process that gives no metrics does not hold up those of others", async () => {
  const { clock, child } = start();
  const metrics = child.metrics();
  await clock.advance(1_000);
  expect(await metrics).toBeUndefined();
});
