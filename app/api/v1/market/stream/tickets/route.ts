import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { createStreamTicket } from "#lib/http/stream-ticket";

export const POST = route(operations.createStreamTicket, createStreamTicket);
export { unserved as DELETE, unserved as GET, unserved as OPTIONS, unserved as PATCH, unserved as PUT } from "#lib/http/api";
