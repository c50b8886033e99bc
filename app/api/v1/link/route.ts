import { unserved } from "#lib/http/api";
import { linkRoute } from "#lib/http/link";
import { GET as conversion } from "../market/conversion/route";
import { GET as file } from "../market/files/[id]/route";
import { GET as instruments } from "../market/instruments/route";
import { GET as klines } from "../market/klines/route";
import { GET as latestQuotes } from "../market/quotes/latest/route";
import { GET as latestSnapshots } from "../market/snapshots/latest/route";
import { GET as marketStatus } from "../market/status/route";
import { GET as ticks } from "../market/ticks/route";

export const GET = linkRoute({ klines, ticks, file, instruments, latestQuotes, latestSnapshots, conversion, marketStatus });
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT };
