import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { marketHours } from "#lib/market/hours";

export const GET = route(operations.marketHours, marketHours);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
