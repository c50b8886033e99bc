import { operations } from "#lib/contract/operations";
import { fileRoute } from "#lib/http/file";
import { openFile } from "#lib/market/files";

export const GET = fileRoute(operations.file, openFile);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
