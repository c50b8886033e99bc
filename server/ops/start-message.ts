import type { AddressInfo } from "node:net";
import { operations } from "#lib/contract/operations";
import type { Env } from "#lib/env";

/** The address a reader on this machine can open. */
export function localAddress({ address, port, family }: AddressInfo): string {
  const any = address === "::" || address === "0.0.0.0";
  const host = any ? "localhost" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** What a person who started the service wants to know first: where it is, the demo key, and a call that works. */
export function startMessage(env: Env, address: string): string {
  if (env.ROLE === "ingest") return `\nSpotwire takes in market data; its health is at ${address}/api/ready\n\n`;
  const base = env.PUBLIC_URL ?? address;
  const lines = ["", `Spotwire is listening on ${address}`, ""];
  if (env.DEMO_KEY === "off") lines.push("  The demo key is off. Make a key: npm run keys -- create --help");
  else
    lines.push(
      `  demo key   ${env.DEMO_KEY}`,
      `  try        curl -H "Authorization: Bearer ${env.DEMO_KEY}" "${base}${operations.latestQuotes.path}?tickers=EURUSD,XAUUSD"`,
      "  own key    npm run keys -- create --help",
    );
  if (env.LIVE_FEED === "none")
    lines.push(
      "",
      "  The live venue has no provider bound: its status says missing and quotes answer market_data_not_ready.",
      "  Bind one with LIVE_FEED=push (ticks come in over POST /api/v1/ingest/ticks) or LIVE_FEED=replay (recorded files).",
    );
  return `${lines.join("\n")}\n\n`;
}
