"use client";

import dynamic from "next/dynamic";
import { usePathname } from "next/navigation";
import { COVERAGE_PATH, coveragePath } from "#lib/contract/coverage";
import { marketPath } from "#lib/contract/markets";
import { plainTicker } from "#lib/instrument-search";
import { useHydrated } from "../portal/time";
import { wordsOf } from "./search-box";

// Loaded where an address has no page: this belongs to the scripts of every page.
const NearDocs = dynamic(() => import("../docs/near-docs").then((module) => module.NearDocs), { ssr: false });
const NearList = dynamic(() => import("../markets/near-list").then((module) => module.NearList), { ssr: false });

const MARKETS = marketPath(undefined);

/** What the address of this page, which has none, may mean: instruments by its ticker, pages of the docs by its words. */
export function NearPages() {
  const path = usePathname();
  // It is rendered once for all such addresses.
  if (!useHydrated()) return null;
  const [, folder = "", ...rest] = path.split("/");
  if (folder === "docs") return <NearDocs words={wordsOf(path)} />;
  const pathOf = {
    [COVERAGE_PATH]: (ticker: string) => coveragePath("sandbox", ticker),
    [MARKETS]: (ticker: string) => marketPath(undefined, ticker),
  }[`/${folder}`];
  const ticker = plainTicker(rest.join("/"));
  return pathOf === undefined || ticker === "" ? null : <NearList ticker={ticker} pathOf={pathOf} />;
}
