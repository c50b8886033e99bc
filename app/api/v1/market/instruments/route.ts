import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { instruments } from "#lib/market/instruments";

export const GET = route(operations.instruments, instruments);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
