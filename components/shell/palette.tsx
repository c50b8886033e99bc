"use client";

import { Command, defaultFilter } from "cmdk";
import { useRouter } from "next/navigation";
import { type KeyboardEvent, useEffect, useState } from "react";
import type { PortalKey } from "#lib/contract/portal";
import { type DocsHit, useDocsSearch } from "../docs/use-docs-search";
import { type MarketHit, useMarketHits } from "../markets/use-market-hits";
import { usePortal } from "../portal/read";
import { signOut } from "../portal/sign-in";
import { SearchDialog } from "../ui/dialog";
import {
  ADMIN_PAGES,
  DASHBOARD_PAGES,
  guestPages,
  type Offered,
  type PageLink,
  REFERENCE_PAGES,
  type Reader,
  sitePages,
} from "./pages";

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
const OPERATIONS = "/docs/operations/";
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

interface HitProps<Hit> {
  readonly hit: Hit;
  /** Its place among the hits, from 0. */
  readonly place: number;
  readonly onGo: (page: PageLink) => void;
}

/** Found by the search of instruments. */
function MarketEntry({ hit: { id, ticker, name }, place, onGo }: HitProps<MarketHit>) {
  return (
    <Command.Item value={id} keywords={[String(place)]} onSelect={() => onGo({ href: id, label: ticker })} className={ITEM}>
      <span className="truncate">{name}</span>
      <span className="shrink-0 font-mono text-ink-faint text-xs">{ticker}</span>
    </Command.Item>
  );
}

/** Ranked by its own search: the palette's ranking does not apply. Some calls are called as the guide about them. */
function HitEntry({ hit, place, onGo }: HitProps<DocsHit>) {
  const note = hit.page ?? (hit.href.startsWith(OPERATIONS) ? "API call" : undefined);
  const about = [note, hit.excerpt].filter((text) => text !== undefined).join(" · ");
  return (
    <Command.Item
      forceMount
      value={hit.id}
      keywords={[String(place)]}
      onSelect={() => onGo({ href: hit.href, label: hit.text })}
      className="cursor-default rounded-md px-3 py-2 text-sm data-[selected=true]:bg-sunken"
    >
      <span className="block truncate">{hit.text}</span>
      {about === "" ? null : <span className="block truncate text-ink-faint text-xs">{about}</span>}
    </Command.Item>
  );
}

/** Letters scattered over a page's name and address are no match: "gold" is not in "Playground". */
const WEAKEST_SCORE = 0.01;
/** A market comes after a page whose name begins like the query, and before the docs. */
const MARKET_SCORE = 0.6;

/**
 * Hits keep their order; the palette would sort them by its own score. It scores an entry when that mounts, before it knows what
 * else changed, so that each hit brings its place along as its only keyword.
 */
const score: typeof defaultFilter = (value, search, keywords) => {
  const [place] = keywords ?? [];
  if (place !== undefined) return value.startsWith(DOCS) ? 1 / (Number(place) + 2) : MARKET_SCORE - Number(place) / 100;
  const own = defaultFilter(value, search) ?? 0;
  return own < WEAKEST_SCORE ? 0 : own;
};

const groupKey = (query: string, hits: readonly { readonly id: string }[]) => [query, ...hits.map(({ id }) => id)].join(" ");

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
      <Command onKeyDown={onKeyDown} value={selected} onValueChange={setSelected} filter={score} label="Search" loop>
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
            {[...sitePages(offered), ...(reader === "guest" ? guestPages(offered) : DASHBOARD_PAGES)].map((page) => (
              <Entry key={page.href} page={page} onGo={go} />
            ))}
          </Command.Group>
          {reader === "operator" ? (
            <Command.Group heading="Operators" className={GROUP}>
              {ADMIN_PAGES.filter(({ href }) => href.startsWith("/admin")).map((page) => (
                <Entry key={page.href} page={page} onGo={go} />
              ))}
            </Command.Group>
          ) : null}
          {markets.hits.length === 0 ? null : (
            // Remounted for each query and its hits, like those of the docs.
            <Command.Group key={groupKey(query, markets.hits)} heading="Markets" className={GROUP}>
              {markets.hits.map((hit, place) => (
                <MarketEntry key={hit.id} hit={hit} place={place} onGo={go} />
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
            // Remounted for each query and its hits: cmdk ranks an entry when it mounts.
            <Command.Group key={groupKey(query, hits)} heading="Documentation" forceMount className={GROUP}>
              {hits.map((hit, place) => (
                <HitEntry key={hit.id} hit={hit} place={place} onGo={go} />
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </SearchDialog>
  );
}
