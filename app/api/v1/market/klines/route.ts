import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { createKlines } from "#lib/market/klines";

export const GET = route(operations.klines, createKlines());
