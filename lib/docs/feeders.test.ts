import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { feederDownload } from "./feeders";

test.each([
  ["Spotwire.mq5", 'input string InpUrl = "https://market.example.com";'],
  ["spotwire_feeder.py", 'default="https://market.example.com"'],
] as const)("the download %s is saved as a file and sends to the service that it came from", async (name, line) => {
  const response = feederDownload(name, "https://market.example.com");
  expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${name}"`);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const text = await response.text();
  expect(text).toContain(line);
  const source = readFileSync(`server/feeders/mt5/${name}`, "utf8");
  expect(text).toBe(source.replaceAll("http://localhost:3000", "https://market.example.com"));
});
