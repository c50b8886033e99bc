import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import { operations } from "#lib/operations/declarations";
import { type Contestant, startChild } from "./child";
import type { Effort } from "./load";
import { startSpotwire } from "./product";
import { comparedOf, type Row, row } from "./table";

const TICKS_COUNT = 2_000;
const SPREAD_POINTS = 12;
const PRICES_COUNT = 977;
const US_PER_S = 1e6;
const { path, body } = operations.ingestTicks;

interface Pushed {
  readonly server: Contestant;
  /** Of accounts of their own, because each has a limit. All push at once. */
  readonly keys: readonly string[];
}

let step = 0;

/** Ticks of now, one after the other for each instrument; each price differs from the one before. */
function lines(listings: readonly Listing[]): string {
  const time_msc = Date.now();
  const ticks = Array.from({ length: TICKS_COUNT }, () => {
    step += 1;
    const { ticker, digits } = listings[step % listings.length] as Listing;
    const points = 100_000 + (step % PRICES_COUNT) * 3;
    return { ticker, time_msc, bid: points / 10 ** digits, ask: (points + SPREAD_POINTS) / 10 ** digits };
  });
  return ticks.map((tick) => `${JSON.stringify(tick)}\n`).join("");
}

/** @throws Error when a tick is not accepted */
async function push(url: string, key: string, text: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": body?.mediaType ?? "" };
  const response = await fetch(url + path, { method: "POST", headers, body: text });
  const answer = (await response.json()) as { readonly data?: { readonly accepted: number } };
  if (answer.data?.accepted !== TICKS_COUNT) throw new Error(`not all ticks were accepted: ${JSON.stringify(answer)}`);
}

/** Pushes for some seconds, each key the next batch after the answer to the last. @returns processor time of a tick, µs */
async function pushFor({ server, keys }: Pushed, seconds: number): Promise<number> {
  const untilMs = performance.now() + seconds * 1_000;
  const startS = server.cpuSeconds();
  let count = 0;
  const each = keys.map(async (key, index) => {
    // Two that push one instrument would overtake each other.
    const listings = LIVE_LISTINGS.filter((_, listing) => listing % keys.length === index);
    for (; performance.now() < untilMs; count += 1) await push(server.url, key, lines(listings));
  });
  await Promise.all(each);
  return ((server.cpuSeconds() - startS) * US_PER_S) / (count * TICKS_COUNT);
}

/** What a tick of a large push costs, beside reading the same lines. */
export async function benchPush({ seconds, rounds, warmUpCpuS }: Effort): Promise<Row[]> {
  const started: Pushed[] = [];
  try {
    const service = await startSpotwire({ LIVE_FEED: "push" });
    const keys = service.liveKeys;
    started.push({ server: service, keys });
    started.push({ server: await startChild("server/bench/fanout-rivals.ts", {}, ["sockets"]), keys });
    const measured = started.map((): number[] => []);
    for (const pushed of started) {
      const warmS = pushed.server.cpuSeconds() + warmUpCpuS;
      while (pushed.server.cpuSeconds() < warmS) await pushFor(pushed, seconds);
    }
    for (let round = 0; round < rounds; round += 1)
      for (const [index, pushed] of started.entries()) measured[index]?.push(await pushFor(pushed, seconds));
    const [owns = [], besides = []] = measured;
    const what = `push of ${TICKS_COUNT.toLocaleString("en-US")} ticks: µs of processor time a tick`;
    return [row("push", what, "`node:http` that parses the same lines", "at most", 3.5, comparedOf(owns, besides))];
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}
