import { readerAddress } from "#app/reader-address";
import { serverMetadata } from "#lib/access/oauth";
import { openDocument } from "#server/pages/methods";

/** How agents are signed in (RFC 8414). */
export const { DELETE, GET, OPTIONS, PATCH, POST, PUT } = openDocument(async () => serverMetadata(await readerAddress()));
