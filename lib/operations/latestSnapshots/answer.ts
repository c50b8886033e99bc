import { route } from "#lib/http/route";
import { createLatest } from "#lib/market/latest";
import { latestSnapshots } from "./declaration";

export const handler = route(
  latestSnapshots,
  createLatest((view, ticker) => view.snapshot(ticker)),
);
