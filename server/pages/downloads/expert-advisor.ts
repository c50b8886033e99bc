import { readFileSync } from "node:fs";
import path from "node:path";
import { SAMPLE_BASE } from "#lib/docs/sample-words";

/** Relative to the working directory. */
const FILE = path.join("server", "feeders", "mt5", "Spotwire.mq5");

/** The response that saves the Expert Advisor for MetaTrader 5 as a file, with the base URL of this service in it. */
export function expertAdvisorDownload(base: string): Response {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "content-disposition": `attachment; filename="${path.basename(FILE)}"`,
    "cache-control": "private, no-cache",
  };
  return new Response(readFileSync(FILE, "utf8").replaceAll(SAMPLE_BASE, base), { headers });
}
