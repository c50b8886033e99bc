import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { latestQuotes } from "#lib/market/latest";

export const GET = route(operations.latestQuotes, latestQuotes);
