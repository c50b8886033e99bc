import { describe, expect, test } from "vitest";
import { ERRORS } from "#lib/contract/errors";
import { listText } from "./records-table";
import { corrected, refusal } from "./trouble";

const DEMO = { kind: "demo", key: "demo" } as const;

describe("a refusal", () => {
  test("is told in the service's words, with its page and without the general advice", () => {
    const detail = 'The burst limit of the plan "demo" is reached. Try again in 1 s.';
    const docs_url = "/docs/errors/rate-limited";
    expect(refusal("rate_limited", { detail, docs_url, retry_after: 1, request_id: "r" }, DEMO)).toEqual({
      says: detail,
      link: { href: docs_url, label: "About rate_limited" },
      retryAfterS: 1,
      requestId: "r",
    });
  });

  test("that says no more than its title comes with the general advice", () => {
    const { title, fix } = ERRORS.internal_error;
    expect(refusal("internal_error", { detail: title }, DEMO)).toEqual({ says: title, next: fix });
  });

  test("offers what was meant for the parameter that was refused", () => {
    const data = { detail: "No.", parameter: "tickers", suggestion: "EURUSD", tickers: ["EUR/USD"] };
    expect(refusal("invalid_ticker", data, DEMO)).toEqual({
      says: "No.",
      correction: { parameter: "tickers", value: "EURUSD", refused: "EUR/USD" },
    });
  });
});

test.each([
  ["EUR/USD", "EUR/USD", "EURUSD"],
  ["XAUUSD, EUR/USD,GBPUSD", "EUR/USD", "XAUUSD,EURUSD,GBPUSD"],
  ["XAUUSD", "EUR/USD", "EURUSD"],
  ["eur-usd", undefined, "EURUSD"],
])("%s with %s corrected is %s", (before, refused, after) => {
  expect(corrected(before, { parameter: "tickers", value: "EURUSD", ...(refused !== undefined && { refused }) })).toBe(after);
});

test("a short list is told in full, a longer one by its count and its ends", () => {
  expect(listText([])).toBe("");
  expect(listText(["quote", "kline", "snapshot"])).toBe("quote, kline, snapshot");
  expect(listText(["M1", "M5", "H1", "MN1"])).toBe("4: M1…MN1");
});
