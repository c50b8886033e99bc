import { describe, expect, test } from "vitest";
import { CURL_MAX_CHARACTERS, readCurl, shellWords } from "./curl";
import { playOperations } from "./operations";

const operations = playOperations();
const KEY = "sw_live_0123456789abcdefghijklmnopqrstuvwxyz";
const read = (command: string) => readCurl(operations, command);
const BASE = "https://market.example.com/api/v1/market";

describe("the words of a command", () => {
  test.each([
    ["curl -s 'a b'\"c d\"e", ["curl", "-s", "a bc de"]],
    ['curl "say \\"hi\\" \\$HOME"', ["curl", 'say "hi" $HOME']],
    ["curl \\\n  -G \\\r\n x", ["curl", "-G", "x"]],
    ["curl $'it\\'s\\n' a\\ b", ["curl", "it's\n", "a b"]],
    ["curl ''", ["curl", ""]],
  ])("%s are read as a shell reads them", (command, words) => {
    expect(shellWords(command)).toEqual(words);
  });

  test.each(["curl 'open", 'curl "open', "curl \\"])("%s has no end", (command) => {
    expect(shellWords(command)).toBeUndefined();
  });
});

describe("a curl command", () => {
  test.each([
    `curl "${BASE}/klines?ticker=EURUSD&timeframe=H1" -H "Authorization: Bearer ${KEY}"`,
    `curl -sSG '${BASE}/klines' --data-urlencode 'ticker=EURUSD' -d timeframe=H1 -H'Authorization: Bearer ${KEY}'`,
    `curl --get --url=${BASE}/klines -d ticker=EURUSD --data timeframe=H1 -o out.json --max-time 5`,
    `$ curl -X GET \\\n  -H "Authorization: Bearer ${KEY}" \\\n  "market.example.com/api/v1/market/klines?ticker=EURUSD&timeframe=H1"`,
  ])("fills the form, and its key is left out: %s", (command) => {
    const found = read(command);
    if ("problem" in found) throw new Error(found.problem);
    expect([found.operation.id, found.values.ticker, found.values.timeframe, found.notices]).toEqual([
      "klines",
      "EURUSD",
      "H1",
      [],
    ]);
    expect(JSON.stringify(found)).not.toContain(KEY);
  });

  test("encodes and decodes values once, and takes repeated parameters as a list", () => {
    const one = read(
      `curl -G ${BASE}/status --data-urlencode "at=2026-12-25T12:00:00+00:00" -d tickers=EURUSD -d tickers=XAUUSD`,
    );
    expect(one).toMatchObject({ values: { at: "2026-12-25T12:00:00+00:00", tickers: "EURUSD,XAUUSD" } });
  });

  test("leaves out a key in the query, and names parameters that do not exist", () => {
    const found = read(`curl "${BASE}/klines?ticker=${KEY}&apikey=1&timeframe=H1"`);
    if ("problem" in found) throw new Error(found.problem);
    expect(JSON.stringify(found.values)).not.toContain(KEY);
    expect(found.notices).toHaveLength(2);
  });

  test.each([
    ["wget http://x", "starts with curl"],
    ["curl", "has no URL"],
    ["curl 'http://x", "not closed"],
    [`curl ${BASE}/klines -d ticker=EURUSD`, "add -G"],
    [`curl ${BASE}/candles`, "GET /api/v1/market/candles is not a call"],
    [`curl -X DELETE ${BASE}/klines`, "DELETE"],
    [`curl ${"x".repeat(CURL_MAX_CHARACTERS)}`, "longer than"],
  ])("that cannot be taken says why: %s", (command, why) => {
    expect(read(command)).toEqual({ problem: expect.stringContaining(why) });
  });
});
