"use client";

import { Command, defaultFilter } from "cmdk";
import { useRouter } from "next/navigation";
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import type { PortalKey } from "#lib/contract/portal";
import { type DocsHit, useDocsSearch } from "../docs/use-docs-search";
import { type MarketHit, useMarketHits } from "../markets/use-market-hits";
import { usePortal } from "../portal/read";
import { signOut } from "../portal/sign-in";
import { SearchDialog } from "../ui/dialog";
import { dashboardPages, guestPages, type Offered, type PageLink, REFERENCE_PAGES, type Reader, sitePages } from "./pages";

interface PaletteProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly reader: Reader;
  readonly offered: Offered;
  /** The query it starts with. */
  readonly first: string;
}

/** Prefix of the values of hits in the docs. */
const DOCS = "/docs";
const GROUP =
  "[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-ink-faint [&_[cmdk-group-heading]]:text-xs";

const ITEM =
  "flex cursor-default items-center justify-between gap-4 rounded-md px-3 py-2 text-sm pointer-coarse:py-3 data-[selected=true]:bg-sunken";

function Entry({ page, onGo, note }: { page: PageLink; onGo: (page: PageLink) => void; note?: string }) {
  return (
    <Command.Item value={`${page.label} ${note ?? ""} ${page.href}`} onSelect={() => onGo(page)} className={ITEM}>
      <span className="truncate">{page.label}</span>
      {note === undefined ? null : <span className="shrink-0 font-mono text-ink-faint text-xs">{note}</span>}
    </Command.Item>
  );
}

/** The signed-in reader's keys, read when the palette is first opened. */
function KeyEntries({ onGo }: { onGo: (page: PageLink) => void }) {
  const { data } = usePortal<{ items: readonly PortalKey[] }>("keys");
  const usable = data?.items.filter(({ state }) => state === "active" || state === "grace") ?? [];
  if (usable.length === 0) return null;
  return (
    <Command.Group heading="Keys" className={GROUP}>
      {usable.map(({ id, name, prefix, last4 }) => (
        <Entry key={id} page={{ href: `/dashboard/logs?key_id=${id}`, label: name }} note={`${prefix}…${last4}`} onGo={onGo} />
      ))}
    </Command.Group>
  );
}

/** Found by the search of instruments. */
function MarketEntry({ hit: { id, ticker, name }, onGo }: { hit: MarketHit; onGo: (page: PageLink) => void }) {
  return (
    <Command.Item value={id} onSelect={() => onGo({ href: id, label: ticker })} className={ITEM}>
      <span className="truncate">{name}</span>
      <span className="shrink-0 font-mono text-ink-faint text-xs">{ticker}</span>
    </Command.Item>
  );
}

/** Ranked by its own search: the palette's ranking does not apply. */
function HitEntry({ hit, onGo }: { hit: DocsHit; onGo: (page: PageLink) => void }) {
  return (
    <Command.Item
      forceMount
      value={hit.id}
      onSelect={() => onGo({ href: hit.href, label: hit.text })}
      className="cursor-default rounded-md px-3 py-2 text-sm data-[selected=true]:bg-sunken"
    >
      <span className="block truncate">{hit.text}</span>
      {hit.page === undefined ? null : <span className="block truncate text-ink-faint text-xs">{hit.page}</span>}
    </Command.Item>
  );
}

/** Letters scattered over a page's name and address are no match: "gold" is not in "Playground". */
const WEAKEST_SCORE = 0.01;
/** A market comes after a page whose name begins like the query, and before the docs. */
const MARKET_SCORE = 0.6;

/** Hits keep their order; the palette would sort them by its own score. */
function scoreWith(markets: readonly MarketHit[], docs: readonly DocsHit[]): typeof defaultFilter {
  return (value, search, keywords) => {
    const market = markets.findIndex(({ id }) => id === value);
    if (market !== -1) return MARKET_SCORE - market / 100;
    const place = docs.findIndex(({ id }) => id === value);
    if (place !== -1) return 1 / (place + 2);
    const score = defaultFilter(value, search, keywords) ?? 0;
    return score < WEAKEST_SCORE ? 0 : score;
  };
}

/** Search over pages, markets, the docs, references and the user's keys. */
export function Palette({ open, onOpenChange, reader, offered, first }: PaletteProps) {
  const router = useRouter();
  const [query, setQuery] = useState(first);
  const docs = useDocsSearch(query);
  const markets = useMarketHits(query);
  const { hits } = docs;
  const pending = docs.pending || markets.pending;
  const best = markets.hits[0]?.id ?? hits[0]?.id;
  const [selected, setSelected] = useState("");
  const filter = useMemo(() => scoreWith(markets.hits, hits), [markets.hits, hits]);
  // Enter came before the hits of the query: the first of them is opened once they are there.
  const [awaited, setAwaited] = useState<string>();
  useEffect(() => {
    // Hits arrive after the palette has selected an entry: the first hit is selected when nothing else matches.
    if (best !== undefined) setSelected((now) => (now === "" || now.startsWith(DOCS) ? best : now));
  }, [best]);
  const go = ({ href, document = false }: PageLink) => {
    onOpenChange(false);
    if (document) window.location.assign(href);
    else router.push(href);
  };
  const waits = awaited === query && !pending;
  useEffect(() => {
    if (!waits) return;
    setAwaited(undefined);
    if (best === undefined) return;
    onOpenChange(false);
    router.push(best);
  }, [waits, best, onOpenChange, router]);
  const onKeyDown = (event: KeyboardEvent) => {
    const onHit = selected === "" || selected.startsWith(DOCS);
    if (event.key !== "Enter" || !pending || !onHit) return;
    event.preventDefault();
    setAwaited(query);
  };
  return (
    <SearchDialog open={open} onOpenChange={onOpenChange} title="Search">
      <Command onKeyDown={onKeyDown} value={selected} onValueChange={setSelected} filter={filter} label="Search" loop>
        <Command.Input
          value={query}
          onValueChange={setQuery}
          placeholder="Search docs and markets, or jump to a page or key"
          className="w-full border-line border-b bg-transparent px-4 py-3 text-sm outline-none pointer-coarse:text-base placeholder:text-ink-faint"
        />
        <Command.List className="max-h-[min(24rem,60dvh)] overflow-y-auto p-2">
          {hits.length > 0 ? null : (
            <Command.Empty className="px-3 py-6 text-center text-ink-faint text-sm">
              {pending ? "Searching…" : "No results."}
            </Command.Empty>
          )}
          <Command.Group heading="Pages" className={GROUP}>
            <Entry page={{ href: "/", label: "Home" }} onGo={go} />
            {[...sitePages(offered), ...(reader === "guest" ? guestPages(offered) : dashboardPages(reader === "operator"))].map(
              (page) => (
                <Entry key={page.href} page={page} onGo={go} />
              ),
            )}
          </Command.Group>
          {markets.hits.length === 0 ? null : (
            <Command.Group heading="Markets" className={GROUP}>
              {markets.hits.map((hit) => (
                // Remounted for each query, like those of the docs.
                <MarketEntry key={`${query} ${hit.id}`} hit={hit} onGo={go} />
              ))}
            </Command.Group>
          )}
          {reader === "guest" ? null : <KeyEntries onGo={go} />}
          <Command.Group heading="Reference" className={GROUP}>
            {REFERENCE_PAGES.map((page) => (
              <Entry key={page.href} page={page} onGo={go} />
            ))}
          </Command.Group>
          {reader === "guest" ? null : (
            <Command.Group heading="Account" className={GROUP}>
              <Command.Item value="Sign out" onSelect={() => void signOut()} className={ITEM}>
                Sign out
              </Command.Item>
            </Command.Group>
          )}
          {hits.length === 0 ? null : (
            <Command.Group heading="Documentation" forceMount className={GROUP}>
              {hits.map((hit) => (
                // Remounted for each query: cmdk ranks an entry when it mounts.
                <HitEntry key={`${query} ${hit.id}`} hit={hit} onGo={go} />
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </SearchDialog>
  );
}
