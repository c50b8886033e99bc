import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { marketStatus } from "#lib/market/status";

export const GET = route(operations.marketStatus, marketStatus);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
