import { expect, test } from "vitest";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { createListingsFinder } from "./tickers";

const always = () => true;

function scene() {
  const catalogue = createSandboxCatalogue();
  let all = catalogue.list();
  const market = { catalogue: { ...catalogue, list: () => all } };
  return {
    market,
    /** Edits a listing, as an operator would. */
    put(ticker: string, changes: object) {
      const listing = catalogue.find(ticker);
      if (listing === undefined) throw new Error(`no ${ticker}`);
      catalogue.put({ ...listing, ...changes });
      all = catalogue.list();
    },
  };
}

test("the listings of a list are the same object until the catalogue or the caller's right to read changes", () => {
  const { market, put } = scene();
  const find = createListingsFinder();
  const tickers = ["EURUSD", "XAUUSD"];
  const found = find({ market, mayRead: always }, tickers, "tickers");
  expect(found.map(({ ticker }) => ticker)).toEqual(tickers);
  expect(find({ market, mayRead: always }, tickers, "tickers")).toBe(found);
  put("EURUSD", { digits: 3 });
  expect(find({ market, mayRead: always }, tickers, "tickers")).toMatchObject([{ digits: 3 }, {}]);
  const noMetals = { market, mayRead: ({ assetClass }: { assetClass: string }) => assetClass !== "metals" };
  for (let round = 0; round < 2; round += 1)
    expect(() => find(noMetals, tickers, "tickers")).toThrow(
      expect.objectContaining({ data: expect.objectContaining({ tickers: ["XAUUSD"] }) }),
    );
});

test("each venue has its own listings for the same list", () => {
  const [live, sandbox] = [scene(), scene()];
  sandbox.put("EURUSD", { digits: 2 });
  const find = createListingsFinder();
  const tickers = ["EURUSD"];
  const digits = [live, sandbox, live].map(({ market }) => find({ market, mayRead: always }, tickers, "tickers")[0]?.digits);
  expect(digits).toEqual([5, 2, 5]);
});
