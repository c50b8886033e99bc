import { afterEach, expect, vi } from "vitest";

/** Fails a test in which something wrote to console.error or console.warn. */
const error = vi.spyOn(console, "error");
const warn = vi.spyOn(console, "warn");

afterEach(() => {
  const noise = [...error.mock.calls, ...warn.mock.calls];
  error.mockClear();
  warn.mockClear();
  expect(noise).toEqual([]);
});
