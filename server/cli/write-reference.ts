import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { referenceFiles } from "#lib/docs/reference/pages";
import { recordedAnswer } from "#lib/docs/reference/recorded";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { listPages } from "./list-pages";

/** npm run generate: the pages that are printed from the contract, and Fumadocs' list of all pages. */

const ROOT = path.join(fileURLToPath(import.meta.url), "..", "..", "..");
const FOLDER = path.join(ROOT, "lib", "generated", "reference");

function write(file: string, text: string): void {
  const target = path.join(FOLDER, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

rmSync(FOLDER, { recursive: true, force: true });
for (const [file, text] of Object.entries(referenceFiles())) write(file, text);
for (const operation of OPERATION_LIST)
  if (recordedAnswer(operation) === undefined)
    process.stderr.write(
      `No response of ${operation.id} is recorded; its page shows the example of its declaration. Record one: npm run build && npm run docs:examples\n`,
    );
await listPages();
