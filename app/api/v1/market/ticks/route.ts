import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { createTicks } from "#lib/market/ticks";

export const GET = route(operations.ticks, createTicks());
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
