import { readerAddress } from "#app/reader-address";
import { otherMethods, preflightOf } from "#server/pages/methods";
import { tokenAnswer } from "#server/pages/oauth";

/** Exchanges the code of a consent for an access token (RFC 6749, RFC 7636, RFC 8707). */
export const POST = async (request: Request): Promise<Response> => tokenAnswer(request, await readerAddress());

export const OPTIONS = preflightOf(["POST"]);
export const { DELETE, GET, PATCH, PUT } = otherMethods({ POST, OPTIONS });
