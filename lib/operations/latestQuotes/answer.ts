import { route } from "#lib/http/route";
import { createLatest } from "#lib/market/latest";
import { latestQuotes } from "./declaration";

export const handler = route(
  latestQuotes,
  createLatest((view, ticker) => view.quote(ticker)),
);
