import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { marketStatus } from "#lib/market/status";

export const GET = route(operations.marketStatus, marketStatus);
