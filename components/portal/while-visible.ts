/**
 * Starts while the page is visible and stops while it is hidden, until the returned function is called.
 * @param lingerMs how long the page must be hidden before it stops
 */
export function whileVisible(start: () => () => void, lingerMs = 0): () => void {
  let stop: (() => void) | undefined;
  let leaving: ReturnType<typeof setTimeout> | undefined;
  const halt = () => {
    stop?.();
    stop = undefined;
  };
  const update = () => {
    clearTimeout(leaving);
    if (!document.hidden) stop ??= start();
    else if (lingerMs === 0) halt();
    else leaving = setTimeout(halt, lingerMs);
  };
  document.addEventListener("visibilitychange", update);
  update();
  return () => {
    document.removeEventListener("visibilitychange", update);
    clearTimeout(leaving);
    halt();
  };
}
