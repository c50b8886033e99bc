import { expect, test } from "vitest";
import { PAGE_CREDENTIAL } from "../portal/credential";
import { filesCall, hasFile } from "./files-call";

const live = { kind: "live_page", key: { id: "key1", name: "Desk", venue: "live", scopes: [], hint: "" } } as const;

test("the call of a month asks for its seconds, with the id of a key and never its text", () => {
  expect(filesCall("EURUSD", "klines", live, "2024-12")).toBe(
    `/playground?op=files&ticker=EURUSD&type=klines&from=${Date.UTC(2024, 11) / 1000}&to=${Date.UTC(2025, 0) / 1000}&key=key1`,
  );
  expect(filesCall("EURUSD", "ticks", PAGE_CREDENTIAL)).toBe("/playground?op=files&ticker=EURUSD&type=ticks&key=demo");
});

test("every month of the live venue has a file, and the last three complete ones of the sandbox", () => {
  const now = Date.UTC(2026, 1, 15);
  const months = ["2020-01", "2025-10", "2025-11", "2025-12", "2026-01", "2026-02"];
  expect(months.filter((month) => hasFile("live", month, now))).toEqual(months);
  expect(months.filter((month) => hasFile("sandbox", month, now))).toEqual(["2025-11", "2025-12", "2026-01"]);
});
