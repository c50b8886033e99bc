import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expertAdvisorDownload } from "./expert-advisor";

test("the Expert Advisor is saved as a file and sends to the service that it came from", async () => {
  const response = expertAdvisorDownload("https://market.example.com");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="Spotwire.mq5"');
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const text = await response.text();
  expect(text).toContain('input string InpUrl = "https://market.example.com";');
  const source = readFileSync("server/feeders/mt5/Spotwire.mq5", "utf8");
  expect(text).toBe(source.replaceAll("http://localhost:3000", "https://market.example.com"));
});
