import { INGEST_MAX_LINES, INGEST_PUSH_MIN_TICKS } from "#lib/contract/limits";
import { route } from "#lib/http/route";
import { requirePlainBody } from "#lib/market/ingest";
import type { Call, DataReply } from "#lib/market/question";
import { ingestTicks } from "./declaration";

const NEWLINE = 0x0a;

/** The chunks of a body, each after its lines were counted. @throws what `admit` throws */
async function* counted(body: AsyncIterable<Uint8Array>, admit: (ticks: number) => Promise<void>): AsyncGenerator<Uint8Array> {
  let paid = INGEST_PUSH_MIN_TICKS;
  let lines = 0;
  for await (const chunk of body) {
    // Blank lines are no ticks, but a batch cannot have more ticks than this, however many lines it has.
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && lines < INGEST_MAX_LINES; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
    if (lines > paid) {
      await admit(lines - paid);
      paid = lines;
    }
    yield chunk;
  }
}

/**
 * Ingests a pushed body and answers with its receipt.
 * @throws Fault as ingestBody does; invalid_parameter for a compressed body; rate_limited for too many ticks: send the batch again
 */
export async function takeTicks(call: Pick<Call<object>, "sent" | "market" | "tickers" | "admitTicks">): Promise<DataReply> {
  const { sent, market, tickers, admitTicks } = call;
  requirePlainBody(sent);
  let refusal: unknown;
  const admit = async (ticks: number) => {
    await admitTicks?.(ticks).catch((error: unknown) => {
      refusal = error;
      throw error;
    });
  };
  const body = sent?.body ? counted(sent.body, admit) : null;
  try {
    return { data: await market.leader.takeTicks(body, tickers) };
  } catch (error) {
    // A body that ends here looks like a broken one to its reader.
    throw refusal ?? error;
  }
}

export const handler = route(ingestTicks, takeTicks);
