import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { createKlines } from "#lib/market/klines";

export const GET = route(operations.klines, createKlines());
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
