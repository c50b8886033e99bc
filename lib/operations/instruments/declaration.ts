import { z } from "zod";
import { CurrencyParameter } from "#lib/contract/currency";
import { AssetClass, Instrument, instrumentExample } from "#lib/contract/instrument";
import { operation } from "#lib/contract/operation";
import { COUNTED_ERRORS } from "#lib/contract/operation-errors";
import { format } from "#lib/contract/query";

/** What agents get of an instrument: the streams and timeframes, nearly always all of them, are most of its length. */
const CompactInstrument = Instrument.pick({ ticker: true, name: true, asset_class: true, digits: true, pip_size: true });
const CompactInstruments = z.object({ items: z.array(CompactInstrument) });

export const instruments = operation({
  id: "instruments",
  method: "GET",
  path: "/api/v1/market/instruments",
  scope: "market:read",
  summary: "Instruments",
  description: "Returns the instruments available to your key, sorted by asset class, then ticker.",
  query: {
    asset_class: {
      schema: AssetClass,
      required: false,
      description: "Returns instruments of this asset class only.",
      example: "metals",
    },
    currency: {
      schema: CurrencyParameter,
      required: false,
      description: "Returns instruments that have this currency or metal as their base or quote, for example JPY or XAU.",
      example: "EUR",
    },
    format,
  },
  data: z.object({ items: z.array(Instrument).describe("The instruments, sorted by asset class, then ticker.") }),
  example: { items: [instrumentExample] },
  errors: ["invalid_parameter", ...COUNTED_ERRORS],
  cost: () => 1,
  mcp: {
    tool: true,
    result: { schema: CompactInstruments, of: (data) => CompactInstruments.parse(data) },
  },
});
