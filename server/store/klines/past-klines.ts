import { KLINES_AS_OF_MAX_MINUTES } from "#lib/contract/limits";
import type { KlineColumns } from "#lib/domain/columns";
import { Fault } from "#lib/fault";
import type { KlineQuery } from "#lib/market/ports";
import { createQueue } from "#lib/queue";
import { TooManyStatements } from "#server/store/history/periods";
import type { createReader } from "#server/store/history/reader";
import type { Queries } from "#server/store/segments/segment-store";

/** Reads at once, which share a thread: one of KLINES_AS_OF_MAX_MINUTES takes it some seconds, and 50 MB. */
const RUNNING_MAX_COUNT = 2;
const WAITING_MAX_COUNT = 16;
const BUSY_RETRY_AFTER_S = 5;

/**
 * Reads what the klines of a series were at an instant, Unix seconds, as `readAt` of KlineStore says.
 * @throws Fault invalid_parameter where too much has changed since; service_unavailable while many such reads wait
 */
export type PastRead = (
  client: Queries,
  query: Pick<KlineQuery, "ticker" | "timeframe" | "from" | "to" | "limit" | "end" | "price">,
  atS: number,
) => Promise<KlineColumns>;

/** Makes a read of what stored klines of the live venue were at an instant; its reads take turns. */
export function createPastRead(reader: ReturnType<typeof createReader>): PastRead {
  const queued = createQueue({
    runningMaxCount: RUNNING_MAX_COUNT,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () =>
      new Fault("service_unavailable", {
        detail: "Too many reads of klines as of an instant are waiting.",
        retry_after: BUSY_RETRY_AFTER_S,
      }),
  });
  return async (client, query, atS) => {
    try {
      const { columns } = await queued(() => reader.readAt(client, query, { atS, maxStatements: KLINES_AS_OF_MAX_MINUTES }));
      return columns;
    } catch (error) {
      if (!(error instanceof TooManyStatements)) throw error;
      const most = KLINES_AS_OF_MAX_MINUTES.toLocaleString("en-US");
      throw new Fault("invalid_parameter", {
        parameter: "as_of",
        detail: `\`as_of\` needs more than ${most} stored minutes that changed since. Ask for a shorter range or a smaller limit.`,
        max: KLINES_AS_OF_MAX_MINUTES,
      });
    }
  };
}
