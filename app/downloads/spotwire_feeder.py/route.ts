import { readerAddress } from "#app/reader-address";
import { feederDownload } from "#lib/docs/feeders";
import { otherMethods } from "#lib/portal/methods";

/** The Python feeder for MetaTrader 5, which sends to this service. */
export async function GET(): Promise<Response> {
  return feederDownload("spotwire_feeder.py", await readerAddress());
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
