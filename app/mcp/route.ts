import { GET as conversion } from "#app/api/v1/market/conversion/route";
import { GET as instruments } from "#app/api/v1/market/instruments/route";
import { GET as klines } from "#app/api/v1/market/klines/route";
import { GET as latestQuotes } from "#app/api/v1/market/quotes/latest/route";
import { GET as latestSnapshots } from "#app/api/v1/market/snapshots/latest/route";
import { GET as marketStatus } from "#app/api/v1/market/status/route";
import { createMcp } from "#lib/mcp/endpoint";

const mcp = createMcp({ instruments, klines, latestQuotes, latestSnapshots, conversion, marketStatus });

export { mcp as DELETE, mcp as GET, mcp as OPTIONS, mcp as PATCH, mcp as POST, mcp as PUT };
