import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { ingestTicks } from "#lib/market/ingest";

export const POST = route(operations.ingestTicks, ingestTicks);
