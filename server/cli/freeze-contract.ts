import { readFileSync, writeFileSync } from "node:fs";
import { asyncApiDocument, asyncApiText } from "#lib/docs/asyncapi";
import { breakingStreamChanges } from "#lib/docs/asyncapi-breaking";
import type { AsyncApiDocument } from "#lib/docs/asyncapi-types";
import { breakingChanges } from "#lib/docs/breaking";
import { openApiDocument, openApiText } from "#lib/docs/openapi";
import type { OpenApiDocument } from "#lib/docs/openapi-types";

/** npm run docs:freeze, with a release: makes the contract the published v1 in lib/docs/v1. Refused unless it only adds to it. */

const OPENAPI = new URL("../../lib/docs/v1/openapi.json", import.meta.url);
const ASYNCAPI = new URL("../../lib/docs/v1/asyncapi.json", import.meta.url);
const published = (file: URL): unknown => JSON.parse(readFileSync(file, "utf8"));

const found = [
  ...breakingChanges(published(OPENAPI) as OpenApiDocument, openApiDocument()),
  ...breakingStreamChanges(published(ASYNCAPI) as AsyncApiDocument, asyncApiDocument()),
];
if (found.length > 0) {
  process.stderr.write(`This would break clients of v1:\n${found.map((line) => `  ${line}\n`).join("")}`);
  process.exitCode = 1;
} else {
  writeFileSync(OPENAPI, openApiText());
  writeFileSync(ASYNCAPI, asyncApiText());
}
