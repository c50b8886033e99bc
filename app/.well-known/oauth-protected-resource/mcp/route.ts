import { readerAddress } from "#app/reader-address";
import { resourceMetadata } from "#lib/access/oauth";
import { openDocument } from "#server/pages/methods";

/** What the MCP endpoint is, and who signs agents in to it (RFC 9728). */
export const { DELETE, GET, OPTIONS, PATCH, POST, PUT } = openDocument(async () => resourceMetadata(await readerAddress()));
