import { BURST_REFUSED } from "#lib/contract/limits";
import type { RequestLogEntry } from "#lib/contract/portal";

/** Whether the burst limit refused a request, and not that of the minute. */
export const isBurstRefusal = ({ detail }: Pick<RequestLogEntry, "detail">): boolean =>
  detail?.startsWith(BURST_REFUSED) === true;
