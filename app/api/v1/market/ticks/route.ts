import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { ticks } from "#lib/market/ticks";

export const GET = route(operations.ticks, ticks);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
