import { readerAddress } from "#app/reader-address";
import { expertAdvisorDownload } from "#server/pages/downloads/expert-advisor";
import { otherMethods } from "#server/pages/methods";

/** The Expert Advisor for MetaTrader 5, which sends to this service. */
export async function GET(): Promise<Response> {
  return expertAdvisorDownload(await readerAddress());
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
