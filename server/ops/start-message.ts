import type { AddressInfo } from "node:net";
import { PROVIDERS } from "#lib/contract/portal-feeds";
import type { Env } from "#lib/env";
import { operations } from "#lib/operations/declarations";

/** The URL that a reader on this machine can open. */
export function localAddress({ address, port, family }: AddressInfo): string {
  const any = address === "::" || address === "0.0.0.0";
  const host = any ? "localhost" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** What an operator needs first: the URL, the demo key, and a call that works. */
export function startMessage(env: Env, address: string): string {
  if (env.ROLE === "ingest") return `\nSpotwire ingests market data. Health check: ${address}/api/ready\n\n`;
  const base = env.PUBLIC_URL ?? address;
  const lines = ["", `Spotwire is listening on ${address}`, ""];
  if (env.DEMO_KEY === "off") lines.push("  The demo key is off. Create a key: npm run keys -- create --help");
  else
    lines.push(
      `  demo key   ${env.DEMO_KEY}`,
      `  try        curl -H "Authorization: Bearer ${env.DEMO_KEY}" "${base}${operations.latestQuotes.path}?tickers=EURUSD,XAUUSD"`,
      "  own key    npm run keys -- create --help",
    );
  if (env.LIVE_FEED.includes("none"))
    lines.push(
      "",
      "  The live venue has no data provider: its market data state is missing, and quotes return market_data_not_ready.",
      `  Set LIVE_FEED to a provider (${PROVIDERS.join(", ")}), push (ticks arrive over POST /api/v1/ingest/ticks)`,
      "  or replay (recorded files).",
    );
  return `${lines.join("\n")}\n\n`;
}
