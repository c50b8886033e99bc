import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { latestSnapshots } from "#lib/market/latest";

export const GET = route(operations.latestSnapshots, latestSnapshots);
