import type { SearchableInstrument } from "#lib/instrument-search";
import { otherMethods } from "#server/pages/methods";
import { portal } from "#server/pages/runtime";

/** The instruments of the sandbox as the search of every page has them; the cache of pages keeps it. */
export const dynamic = "force-dynamic";

/** Cached by browsers for minutes only: an operator may list another instrument. */
export async function GET(): Promise<Response> {
  const rows = await portal().reports.markets("sandbox");
  const items = rows.map(({ ticker, name, asset_class, base_currency, quote_currency }): SearchableInstrument => {
    return { ticker, name, asset_class, base_currency, quote_currency };
  });
  return Response.json(items, { headers: { "cache-control": "public, max-age=300" } });
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
