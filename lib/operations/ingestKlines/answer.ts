import type { Principal } from "#lib/access/principal";
import type { QueryOf } from "#lib/contract/operation";
import { type GuardedCall, route } from "#lib/http/route";
import { requirePlainBody } from "#lib/market/ingest";
import type { DataReply } from "#lib/market/question";
import { ingestKlines } from "./declaration";

type KlinesCall = Pick<GuardedCall<QueryOf<typeof ingestKlines.query>>, "sent" | "market" | "tickers" | "query"> & {
  readonly principal: Pick<Principal, "keyId" | "prefix" | "last4">;
};

/**
 * Stores pushed klines and answers with the receipt.
 * @throws Fault as ingestKlinesBody does; invalid_parameter for a compressed body
 */
export async function takeKlines({ sent, market, tickers, query, principal }: KlinesCall): Promise<DataReply> {
  requirePlainBody(sent);
  const { keyId, prefix, last4 } = principal;
  const push = { replace: query.replace ?? "gaps", tickers, keyId, label: `${prefix}…${last4}` };
  return { data: await market.leader.takeKlines(sent?.body ?? null, push) };
}

export const handler = route(ingestKlines, takeKlines);
