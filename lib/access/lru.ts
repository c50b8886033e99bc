import { LRUCache } from "lru-cache";

/**
 * Keeps at most `maxCount` values; past it the least recently used one is dropped. Its memory grows with its content: with the
 * option `max` the package would reserve memory for all of them, which takes 20 ms and 3 MB per 100,000.
 * @param onDrop called with the key of a value that is dropped or replaced
 */
export function createLru<Value extends object | number | true>(
  maxCount: number,
  onDrop?: (key: string) => void,
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({
    maxSize: maxCount,
    sizeCalculation: () => 1,
    ...(onDrop && { dispose: (_, key) => onDrop(key) }),
  });
}
