/** A page that is never idle still goes on after this time. */
const PATIENCE_MS = 1_000;

/** Resolves once the browser has nothing more urgent to do, such as answering a tap while the page starts; after a second at most. */
export function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no idle callbacks.
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve(), { timeout: PATIENCE_MS });
    else setTimeout(resolve);
  });
}
