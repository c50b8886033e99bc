import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { asyncApiDocument, asyncApiText } from "./asyncapi";
import { breakingStreamChanges } from "./asyncapi-breaking";
import type { AsyncApiDocument } from "./asyncapi-types";
import { breakingChanges } from "./breaking";
import { openApiDocument, openApiText } from "./openapi";
import type { OpenApiDocument } from "./openapi-types";

/**
 * npm run docs:api              writes lib/docs/openapi.json and asyncapi.json from the contract
 * npm run docs:api -- --freeze  also makes them the published v1, with a release: refused unless both only add
 */
interface GeneratedDocument {
  readonly name: string;
  readonly text: string;
  /** What would break for readers of the published text. */
  readonly breaks: (published: string) => string[];
}

const DOCUMENTS: readonly GeneratedDocument[] = [
  {
    name: "openapi.json",
    text: openApiText(),
    breaks: (published) => breakingChanges(JSON.parse(published) as OpenApiDocument, openApiDocument()),
  },
  {
    name: "asyncapi.json",
    text: asyncApiText(),
    breaks: (published) => breakingStreamChanges(JSON.parse(published) as AsyncApiDocument, asyncApiDocument()),
  },
];

const current = (name: string) => new URL(`./${name}`, import.meta.url);
const published = (name: string) => new URL(`./v1/${name}`, import.meta.url);

/** Nothing can break before the first release. */
const found = DOCUMENTS.flatMap(({ name, breaks }) =>
  existsSync(published(name)) ? breaks(readFileSync(published(name), "utf8")) : [],
);
for (const { name, text } of DOCUMENTS) writeFileSync(current(name), text);
if (found.length > 0) {
  process.stderr.write(`This would break clients of v1:\n${found.map((line) => `  ${line}\n`).join("")}`);
  process.exitCode = 1;
} else if (process.argv.includes("--freeze")) {
  for (const { name, text } of DOCUMENTS) writeFileSync(published(name), text);
}
