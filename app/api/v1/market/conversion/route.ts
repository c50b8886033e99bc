import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { conversion } from "#lib/market/conversion";

export const GET = route(operations.conversion, conversion);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
