import { expect, test } from "vitest";
import { addressOf, filterOf, SPANS, type Span } from "./usage-query";

test("the filters of the usage page survive in its address", () => {
  for (const span of Object.keys(SPANS) as Span[])
    for (const keyId of ["", "k1"])
      for (const operation of ["", "klines"]) {
        const filter = { span, keyId, operation };
        expect(filterOf(new URLSearchParams(addressOf(filter)))).toEqual(filter);
      }
});

test("an address with an unknown range shows the usual one", () => {
  expect(filterOf(new URLSearchParams("range=constructor"))).toEqual({ span: "24h", keyId: "", operation: "" });
});
