import { SpotwireError } from "./errors";

/** Buffers records for one `for await` loop. */
interface RecordBuffer<Item> {
  /** Adds a record; false when the oldest one was dropped to make room. */
  push(item: Item): boolean;
  /** Number of records dropped so far. */
  readonly dropped: number;
  /** Ends the buffer: the loop still receives the remaining records, then ends, or throws the error if there is one. */
  end(error?: SpotwireError): void;
  next(): Promise<IteratorResult<Item, undefined>>;
}

/** Number of consumed items at the front that triggers their removal. */
const COMPACT_AFTER_COUNT = 1_024;

/** Makes a buffer of at most `capacity` records; when full, it drops the oldest record, because an old price is worth least. */
export function createBuffer<Item>(capacity: number): RecordBuffer<Item> {
  let items: Item[] = [];
  let head = 0;
  let dropped = 0;
  let ended: { error?: SpotwireError | undefined } | undefined;
  let taker: { resolve(result: IteratorResult<Item, undefined>): void; reject(error: SpotwireError): void } | undefined;

  function shift(): Item | undefined {
    const item = items[head];
    head += 1;
    if (head >= COMPACT_AFTER_COUNT && head * 2 >= items.length) {
      items = items.slice(head);
      head = 0;
    }
    return item;
  }

  return {
    get dropped() {
      return dropped;
    },
    push(item) {
      if (ended !== undefined) return true;
      if (taker !== undefined) {
        taker.resolve({ value: item, done: false });
        taker = undefined;
        return true;
      }
      items.push(item);
      if (items.length - head <= capacity) return true;
      shift();
      dropped += 1;
      return false;
    },
    end(error) {
      if (ended !== undefined) return;
      ended = { error };
      if (error === undefined) taker?.resolve({ value: undefined, done: true });
      else taker?.reject(error);
      taker = undefined;
    },
    async next() {
      if (taker !== undefined) throw new SpotwireError("invalid_argument", "Await each next() before you call it again.");
      if (head < items.length) return { value: shift() as Item, done: false };
      if (ended?.error !== undefined) throw ended.error;
      if (ended !== undefined) return { value: undefined, done: true };
      return new Promise((resolve, reject) => {
        taker = { resolve, reject };
      });
    },
  };
}
