import { readFileSync } from "node:fs";
import path from "node:path";
import { SAMPLE_BASE } from "./sample-words";

/** Programs that push ticks to the service, offered for download; relative to the working directory. */
const FOLDER = path.join("server", "feeders", "mt5");

type FeederFile = "Spotwire.mq5" | "spotwire_feeder.py";

/** The response that saves a feeder as a file, with the base URL of this service in it. */
export function feederDownload(name: FeederFile, base: string): Response {
  const text = readFileSync(path.join(FOLDER, name), "utf8").replaceAll(SAMPLE_BASE, base);
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "content-disposition": `attachment; filename="${name}"`,
    "cache-control": "private, no-cache",
  };
  return new Response(text, { headers });
}
