import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { breakingChanges } from "./breaking";
import { openApiDocument, openApiText } from "./openapi";
import type { OpenApiDocument } from "./openapi-types";

/**
 * npm run docs:openapi              writes lib/docs/openapi.json from the contract
 * npm run docs:openapi -- --freeze  also makes it the published v1, with a release: refused unless it only adds
 */
const CURRENT = new URL("./openapi.json", import.meta.url);
const PUBLISHED = new URL("./v1/openapi.json", import.meta.url);

/** What the change would break for readers of the published v1; nothing before the first release. */
function breaks(): string[] {
  if (!existsSync(PUBLISHED)) return [];
  return breakingChanges(JSON.parse(readFileSync(PUBLISHED, "utf8")) as OpenApiDocument, openApiDocument());
}

const found = breaks();
writeFileSync(CURRENT, openApiText());
if (found.length > 0) {
  process.stderr.write(`This would break clients of v1:\n${found.map((line) => `  ${line}\n`).join("")}`);
  process.exitCode = 1;
} else if (process.argv.includes("--freeze")) {
  writeFileSync(PUBLISHED, openApiText());
}
