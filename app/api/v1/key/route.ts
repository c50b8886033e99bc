import { operations } from "#lib/contract/operations";
import { keyInfo } from "#lib/http/key-info";
import { route } from "#lib/http/route";

export const GET = route(operations.key, keyInfo);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
