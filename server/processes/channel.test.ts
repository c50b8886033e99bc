import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { type Answers, openChannel, type ProcessEnd } from "./channel";

type Double = { double(value: number): Promise<number> };

/** Two ends that pass each other JSON, as the channel between parent and child does. */
function pair(): { ends: [ProcessEnd, ProcessEnd]; disconnect(): void } {
  const [left, right] = [new EventEmitter(), new EventEmitter()];
  const to = (other: EventEmitter) => (message: object) => {
    const text = JSON.stringify(message);
    queueMicrotask(() => other.emit("message", JSON.parse(text)));
    return true;
  };
  return {
    ends: [Object.assign(left, { send: to(right) }), Object.assign(right, { send: to(left) })] as [ProcessEnd, ProcessEnd],
    disconnect: () => void left.emit("disconnect"),
  };
}

function scene(theirs: Answers) {
  const clock = manualClock(0);
  const { ends, disconnect } = pair();
  openChannel(ends[1], theirs, clock);
  return { clock, disconnect, channel: openChannel<Double>(ends[0], {}, clock) };
}

const unavailable = (detail: string) => ({ id: "service_unavailable", data: { detail, retry_after: 1 } });

test("an answer reaches who asked, whatever the order of answers", async () => {
  const waiting: (() => void)[] = [];
  const double = (value: number) => new Promise((resolve) => waiting.push(() => resolve(2 * value)));
  const { channel } = scene({ double });
  const asked = [channel.ask("double", 1), channel.ask("double", 2)];
  await new Promise((resolve) => setImmediate(resolve));
  for (const answer of waiting.reverse()) answer();
  expect(await Promise.all(asked)).toEqual([2, 4]);
});

test("a failure at the other side carries its message", async () => {
  const { channel } = scene({
    double: () => {
      throw new Error("not a number");
    },
  });
  await expect(channel.ask("double", 1)).rejects.toThrow("not a number");
});

test("a question that nobody answers ends after five seconds", async () => {
  const { channel, clock } = scene({ double: () => new Promise(() => undefined) });
  const asked = expect(channel.ask("double", 1)).rejects.toMatchObject(unavailable("The other process does not answer."));
  await clock.advance(5_000);
  await asked;
});

test("the sixty-fifth question that waits is refused", async () => {
  const { channel, disconnect } = scene({ double: () => new Promise(() => undefined) });
  const asked = Array.from({ length: 64 }, () => channel.ask("double", 1).catch(() => "ended"));
  await expect(channel.ask("double", 1)).rejects.toMatchObject(unavailable("Too many questions wait for the other process."));
  disconnect();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["ended"]));
});

test("when the other process ends, what waits and what is asked later fails at once", async () => {
  const { channel, disconnect } = scene({ double: () => new Promise(() => undefined) });
  const asked = expect(channel.ask("double", 1)).rejects.toMatchObject(unavailable("The other process has ended."));
  disconnect();
  await asked;
  await expect(channel.ask("double", 1)).rejects.toMatchObject(unavailable("The other process has ended."));
});
