import { afterEach, expect, test, vi } from "vitest";
import { whenIdle } from "./when-idle";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("waits for the browser's idle callback, and names a limit so that a busy page still goes on", async () => {
  const idle = vi.fn<(run: () => void, options: { timeout: number }) => void>();
  vi.stubGlobal("requestIdleCallback", idle);
  const resolved = vi.fn();
  const waiting = whenIdle().then(resolved);
  await Promise.resolve();
  expect(resolved).not.toHaveBeenCalled();
  expect(idle.mock.calls[0]?.[1]).toEqual({ timeout: 1_000 });
  idle.mock.calls[0]?.[0]();
  await waiting;
  expect(resolved).toHaveBeenCalledOnce();
});

test("goes on in a browser without idle callbacks", async () => {
  vi.stubGlobal("requestIdleCallback", undefined);
  await whenIdle();
});
