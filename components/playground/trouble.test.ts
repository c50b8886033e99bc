import { describe, expect, test, vi } from "vitest";
import { ERRORS } from "#lib/contract/errors";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { listText } from "./records-table";
import { noStream, refusal } from "./trouble";
import { corrected } from "./trouble-correction";

const DEMO = { kind: "demo", key: "demo" } as const;

describe("the explanation of a refusal", () => {
  test("a refusal is explained in the service's words with a link to its page, without general advice", () => {
    const detail = 'The burst limit of the plan "demo" is reached. Try again in 1 s.';
    const docs_url = "/docs/errors/rate-limited";
    expect(refusal("rate_limited", { detail, docs_url, retry_after: 1, request_id: "r" }, DEMO)).toEqual({
      says: detail,
      link: { href: docs_url, label: "About rate_limited" },
      retryAfterS: 1,
      requestId: "r",
    });
  });

  test("a ticket that is refused because of other streams says how many there may be, and what to do", () => {
    const detail = 'The plan "demo" allows 2 connections at a time.';
    const trouble = refusal("too_many_connections", { detail, docs_url: "/d", retry_after: 5, request_id: "r" }, DEMO);
    expect(trouble).toMatchObject({ says: detail, retryAfterS: 5, requestId: "r", link: { href: "/docs/limits" } });
    expect(trouble.next).toContain("Close one, then connect again.");
  });

  test("a refusal without details comes with general advice", () => {
    const { title, fix } = ERRORS.internal_error;
    expect(refusal("internal_error", { detail: title }, DEMO)).toEqual({ says: title, next: fix });
  });

  test("a refusal offers the suggestion for the refused parameter", () => {
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
])("a suggestion corrects %s, with %s refused, to %s", (before, refused, after) => {
  expect(corrected(before, { parameter: "tickers", value: "EURUSD", ...(refused !== undefined && { refused }) })).toBe(after);
});

test("a short list is shown in full, a longer one by its length and its ends", () => {
  expect(listText([])).toBe("");
  expect(listText(["quote", "kline", "snapshot"])).toBe("quote, kline, snapshot");
  expect(listText(["M1", "M5", "H1", "MN1"])).toBe("4: M1…MN1");
});

test("a stream that cannot be opened names the limit of the demo key, unless the browser is offline", () => {
  vi.stubGlobal("navigator", { onLine: true });
  expect(noStream(DEMO).next).toContain(`allows ${PLAN_DEFAULTS.demo.streamConnections} streams per IP address`);
  vi.stubGlobal("navigator", { onLine: false });
  expect(noStream(DEMO).says).toBe("You're offline.");
  vi.unstubAllGlobals();
});
