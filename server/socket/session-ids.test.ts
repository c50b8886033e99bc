import { expect, test } from "vitest";
import { sessionId, workerOfSession } from "./session-ids";

test("a session id names its worker, in any target", () => {
  for (const worker of [1, 9, 64]) {
    const sid = sessionId(worker);
    expect(workerOfSession(`/socket.io/?EIO=4&transport=polling&sid=${sid}`)).toBe(worker);
    expect(workerOfSession(`/socket.io/?sid=${encodeURIComponent(sid)}&EIO=4`)).toBe(worker);
  }
  expect(new Set([sessionId(1), sessionId(1)]).size).toBe(2);
});

test.each([
  "",
  "/socket.io/",
  "/socket.io/?EIO=4",
  "/socket.io/?sid=",
  "?sid=x.y",
  "?sid=0.y",
  "?sid=65.y",
  "?sid=123.y",
  "?sid=1e1.y",
  "?sid=../1.y",
])("a target without a worker that can exist names none: %s", (target) => expect(workerOfSession(target)).toBeUndefined());
