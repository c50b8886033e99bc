import { vi } from "vitest";

/** No test asserts a time. Vitest gives up after a second, which a busy machine can take for one query. */
const PATIENCE_MS = 60_000;

const { waitFor, waitUntil } = vi;

// Set-up runs before each test file of a worker, and wraps once.
if (waitFor.name !== "waitPatiently") {
  vi.waitFor = function waitPatiently(callback, options) {
    return waitFor(callback, typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options });
  };
  vi.waitUntil = (callback, options) =>
    waitUntil(callback, typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options });
}
