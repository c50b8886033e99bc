/** A queue in order of arrival, for a reader that takes items of one kind. */
export interface Mailbox<Item> {
  /** All items so far, in order. */
  readonly received: readonly Item[];
  put(item: Item): void;
  /** The first wanted item that was not taken yet, now or when it arrives; rejects when none can arrive any more. */
  take<Wanted extends Item>(wants: (item: Item) => item is Wanted): Promise<Wanted>;
  /** Ends the queue: waiting readers get the reason. */
  end(reason: Error): void;
}

interface Taker<Item> {
  readonly wants: (item: Item) => boolean;
  readonly resolve: (item: Item) => void;
  readonly reject: (reason: Error) => void;
}

/** Creates an empty mailbox. */
export function createMailbox<Item>(): Mailbox<Item> {
  const received: Item[] = [];
  let waiting: Item[] = [];
  let takers: Taker<Item>[] = [];
  let ended: Error | undefined;
  return {
    received,
    put(item) {
      received.push(item);
      const taker = takers.find(({ wants }) => wants(item));
      if (taker === undefined) return void waiting.push(item);
      takers = takers.filter((other) => other !== taker);
      taker.resolve(item);
    },
    take: <Wanted extends Item>(wants: (item: Item) => item is Wanted) =>
      new Promise<Wanted>((resolve, reject) => {
        const item = waiting.find(wants);
        if (item !== undefined) {
          waiting = waiting.filter((other) => other !== item);
          resolve(item);
        } else if (ended) reject(ended);
        else takers.push({ wants, resolve: resolve as (item: Item) => void, reject });
      }),
    end(reason) {
      ended = reason;
      for (const { reject } of takers) reject(reason);
      takers = [];
    },
  };
}
