import { IngestReceipt } from "#lib/contract/ingest";
import { INGEST_PATH, type PushedTick } from "../feeder";
import { type Reference, type SentTick, TICKERS } from "./market";

const NO_ANSWER = "no answer in time";
const NO_CONNECTION = "connection failed";
/** What a fault may cause instead of a receipt. */
const EXCUSED: ReadonlySet<string> = new Set(["503 50302", NO_ANSWER, NO_CONNECTION]);
const TICK_INTERVAL_MS = 500;
/** A receipt lists each refused line up to this number. */
const BATCH_MAX_TICKS = 100;
const ANSWER_MAX_MS = 3_000;
const RETRY_MS = 100;
/** A price moves by at most this many hundred-thousandths per tick. */
const STEP_MAX = 5;
const SPREAD = 8;

/** A provider's feeder that never stops: it buffers what is not accepted, and records the fate of each tick. */
export interface Load {
  /** Stops making ticks; resolves when each of them was answered. */
  pause(): Promise<void>;
  resume(): void;
  /** Errors that no fault excuses: rejected ticks, invalid answers. */
  readonly problems: string[];
  /** Answers that were not a receipt, by kind. */
  readonly failures: Map<string, number>;
  stop(): Promise<void>;
}

interface LoadOptions {
  /** URLs of the edges; after an error the next one is used. */
  urls: readonly string[];
  key: string;
  reference: Reference;
}

/** Random walks of prices, each from its own level. */
function createPrices() {
  const levels = new Map(TICKERS.map((ticker, index) => [ticker as string, 60_000 + 10_000 * index]));
  return (ticker: string, timeMs: number): PushedTick => {
    const bid = (levels.get(ticker) ?? 0) + Math.round((Math.random() * 2 - 1) * STEP_MAX);
    levels.set(ticker, bid);
    return { ticker, time_msc: timeMs, bid: bid / 1e5, ask: (bid + SPREAD) / 1e5 };
  };
}

/** The result of one attempt: a receipt, or the reason for none. */
async function post(url: string, key: string, batch: readonly SentTick[]): Promise<IngestReceipt | string> {
  const body = batch.map(({ tick }) => JSON.stringify(tick)).join("\n");
  try {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" };
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const response = await fetch(url + INGEST_PATH, { method: "POST", headers, body, signal });
    const envelope = (await response.json()) as { code: number; data: unknown };
    return response.status === 200 ? IngestReceipt.parse(envelope.data) : `${response.status} ${envelope.code}`;
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError" ? NO_ANSWER : NO_CONNECTION;
  }
}

/** Starts to push: one tick of each ticker, twice a second. */
export function startLoad({ urls, key, reference }: LoadOptions): Load {
  const problems: string[] = [];
  const failures = new Map<string, number>();
  const price = createPrices();
  let queue: SentTick[] = [];
  let edge = 0;
  let newestMs = 0;
  let making = true;
  let sending: Promise<void> | undefined;
  let stopped = false;

  function settle(batch: readonly SentTick[], receipt: IngestReceipt, repeated: boolean): void {
    const reasons = new Map(receipt.rejections.map(({ line, reason }) => [line, reason]));
    for (const [index, entry] of batch.entries()) {
      const reason = reasons.get(index + 1);
      // A later tick of the same batch was accepted in an earlier attempt, and a batch is accepted in order.
      const known = repeated && (reason === "duplicate" || reason === "out_of_order");
      if (reason === undefined || known) entry.fate = "in";
      else if (reason === "too_late") entry.fate = repeated ? "uncertain" : "out";
      else {
        entry.fate = "out";
        problems.push(`a tick was rejected as ${reason}: ${JSON.stringify(entry.tick)}`);
      }
    }
  }

  async function deliver(batch: readonly SentTick[]): Promise<void> {
    for (let attempt = 0; !stopped; attempt += 1) {
      const result = await post(urls[edge % urls.length] ?? "", key, batch);
      if (typeof result !== "string") return settle(batch, result, attempt > 0);
      failures.set(result, (failures.get(result) ?? 0) + 1);
      if (!EXCUSED.has(result)) problems.push(`a batch was answered ${result}`);
      edge += 1;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async function send(): Promise<void> {
    while (queue.length > 0 && !stopped) {
      const batch = queue.slice(0, BATCH_MAX_TICKS);
      queue = queue.slice(batch.length);
      await deliver(batch);
    }
  }

  const timer = setInterval(() => {
    if (!making) return;
    newestMs = Math.max(newestMs + 1, Date.now());
    for (const ticker of TICKERS) queue.push(reference.add(price(ticker, newestMs)));
    sending ??= send().finally(() => {
      sending = undefined;
    });
  }, TICK_INTERVAL_MS);

  return {
    problems,
    failures,
    async pause() {
      making = false;
      await sending;
    },
    resume() {
      making = true;
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await sending;
    },
  };
}
