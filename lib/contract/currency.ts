import { z } from "zod";
import { refuse } from "./validate";

/** A code, in any case. */
export const CURRENCY_SHAPE = /^[A-Z0-9]{2,10}$/i;
const CURRENCY_RULE = "must be a currency code, for example USD, or XAU for gold.";

/** Code of a currency or metal. */
export const Currency = z
  .string()
  .regex(/^[A-Z0-9]{2,10}$/)
  .meta({ id: "Currency", description: "Code of a currency or metal (ISO 4217).", examples: ["USD"] });

/** One currency in a query: trimmed and upper-cased before the check. */
export const CurrencyParameter = z
  .string()
  .transform((text, ctx) => {
    const code = text.trim();
    if (!CURRENCY_SHAPE.test(code)) return refuse(ctx, { fault: "invalid_parameter", detail: CURRENCY_RULE });
    return code.toUpperCase();
  })
  .pipe(Currency);
