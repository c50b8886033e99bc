import { operations } from "#lib/operations/declarations";

const PAUSE_MS = 20;
const TICKER = "EURUSD";

/** A client with a key of its own, which must not notice what strangers do. */
export interface Bystander {
  /** Stops asking; resolves to what it saw since it began. */
  stop(): Promise<{ answers: number; wrong: string[]; worstMs: number }>;
}

/**
 * Asks again when the connection was closed, as HTTP lets clients do with requests that change nothing (RFC 9112, section 9.3.1): a
 * server closes one that was idle for five seconds, and a machine that stalls for so long asks on it.
 */
async function ask(url: string, key: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  return fetch(url, { headers }).catch(() => fetch(url, { headers }));
}

/** Asks for a quote again and again, and checks each answer. */
export function startBystander(baseUrl: string, key: string): Bystander {
  const wrong: string[] = [];
  let answers = 0;
  let worstMs = 0;
  let stopping = false;

  async function look(): Promise<void> {
    const beganMs = performance.now();
    const response = await ask(`${baseUrl}${operations.latestQuotes.path}?tickers=${TICKER}`, key);
    const body = await response.text();
    worstMs = Math.max(worstMs, performance.now() - beganMs);
    answers += 1;
    const { code, data } = JSON.parse(body) as { code: number; data: { items?: { ticker: string }[] } };
    if (response.status !== 200 || code !== 0 || data.items?.[0]?.ticker !== TICKER) wrong.push(`${response.status} ${body}`);
  }

  async function run(): Promise<void> {
    while (!stopping) {
      await look().catch((error: unknown) => wrong.push(String(error)));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  const running = run();
  return {
    async stop() {
      stopping = true;
      await running;
      return { answers, wrong, worstMs };
    },
  };
}
