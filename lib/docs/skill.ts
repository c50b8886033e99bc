import { NAME_MARK } from "#lib/brand";
import { SAMPLE_BASE } from "./sample-words";

/** How an agent connects to the service, in a few lines that fit into any context. */
export const CONNECT = `Agents connect to ${SAMPLE_BASE}/mcp (Model Context Protocol, streamable HTTP). Hosts that sign in by OAuth need this URL alone. Others send the header \`Authorization: Bearer <key>\`; a key is made at ${SAMPLE_BASE}/dashboard/keys. The documentation needs neither: the tools \`searchDocs\` and \`readDocs\`, or any page below with \`.md\`.`;

/** The skill file: what the service answers, how to call it, and the mistakes that agents make. */
export const SKILL = `---
name: market-data
description: Quotes, klines (candles), trading hours and currency conversion for forex and metals, from ${NAME_MARK}. Use it for prices now or in the past, whether a market is open, and when it opens.
---

# Market data from ${NAME_MARK}

${CONNECT}

| question | tool, or REST call |
| --- | --- |
| Which instruments are there? | \`instruments\`, \`GET /api/v1/market/instruments?asset_class=metals\` |
| What is the price now? | \`latestQuotes\`, \`GET /api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD\` |
| Candles of a range | \`klines\`, \`GET /api/v1/market/klines?ticker=XAUUSD&timeframe=H1&from=…&to=…\` |
| Ranges, changes and spreads over days to years | \`marketSummary\`, \`GET /api/v1/market/summary?ticker=XAUUSD&from=2026-01-05&to=2026-07-05&by=weekday\` |
| Is the market open, when does it open? | \`marketStatus\`, \`marketHours\` |
| An amount in another currency | \`conversion\` |

- Tickers are compact: \`EURUSD\`, not \`EUR/USD\`.
- Times are UTC. \`from\` is inclusive, \`to\` exclusive. Over MCP, \`2026-01-02\` is midnight UTC.
- D1 klines begin at 17:00 in New York, as the market's day does.
- Prices of klines are bids. \`tick_volume\` counts quotes; it is not traded volume.
- A market that is closed has no klines. Look at \`expected_count\` before you call a gap missing data.
- After \`rate_limited\`, wait \`data.retry_after\` seconds. Ask for many tickers in one call.
- One call about many rows is cheaper than many about few: choose the longest timeframe that answers the question.
`;
