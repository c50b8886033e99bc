/** The newest values of a series, and their median. */
export interface MedianWindow {
  /** How many values it holds. */
  size(): number;
  add(value: number): void;
  /** The lower one of the two in the middle of an even number; NaN while it is empty. Sorts, so it is not for every value. */
  median(): number;
  clear(): void;
}

/** Makes a window of so many values; adding one allocates nothing. */
export function createMedianWindow(capacity: number): MedianWindow {
  const ring = new Float64Array(capacity);
  let size = 0;
  let next = 0;
  return {
    size: () => size,
    add(value) {
      ring[next] = value;
      next = next + 1 === capacity ? 0 : next + 1;
      if (size < capacity) size += 1;
    },
    median: () => (size === 0 ? Number.NaN : (ring.slice(0, size).sort()[(size - 1) >> 1] ?? Number.NaN)),
    clear() {
      size = 0;
      next = 0;
    },
  };
}
