import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { listFiles } from "#lib/market/files";

export const GET = route(operations.files, listFiles);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
