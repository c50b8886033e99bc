import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import { SECOND_MS } from "#lib/units";
import { SHARED_HEADER, type SharedPage, sharedCookies, sharedPage } from "#server/pages/shared-pages";
import { isSecure, readCookies } from "#server/pages/sign-in/cookies";
import { clientOf } from "#server/processes/client-queue";
import { addressOf, type Listener, refuseBusy, refuseWith } from "#server/processes/forward";
import type { Send } from "#server/processes/send";
import { reasonOf } from "#server/store/database/db";
import { type CachedPage, makeCachedPage, writePage } from "./cached-page";

/** Memory of all pages, with their compressed copies and their names. */
const CACHE_MAX_BYTES = 67_108_864;
const PAGE_MAX_BYTES = 4_194_304;
const RETRY_AFTER_S = 2;
/** A page past its time is still shown for this long while it is rendered again. */
const STALE_MAX_MS = 5 * SECOND_MS;
/** A reader waits this long for a page that is older than that, before it is shown all the same: the portal is busy or starting. */
const OLD_AFTER_MS = SECOND_MS;
/** Answers written per turn of the event loop, so that a loop over pages does not delay quotes. */
const WRITES_PER_TURN_COUNT = 4;
/** A path that no page has: its answer serves for all such paths. It names no host, so that there is one for each theme. */
const NO_SUCH_PAGE = "/no-such-page";
const NOT_FOUND: SharedPage = { freshMs: Number.POSITIVE_INFINITY, query: "" };
/** Headers that change a shared page: they name the service as the reader reached it. */
const KEY_HEADERS = ["host", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"];

/** Counts a request for a page: one from memory, or one that the portal has to render. */
export type PageLimit = (address: string, from: "memory" | "portal") => Promise<Fault | undefined>;

interface PageCacheOptions {
  readonly env: Parameters<typeof isSecure>[0];
  readonly send: Send;
  /** Whether a page serves this path. */
  readonly isRoute: (path: string) => boolean;
  /** Serves what is not shared. */
  readonly forward: Listener;
  /** Counts a request; the fault of one too many. */
  readonly limit: PageLimit;
  readonly clock: Clock;
}

/** Who reads a page from within the service. */
export interface PageReader {
  /** Host of the service, as they reached it: pages name it. */
  readonly host: string;
  readonly address: string;
}

/** Pages for everybody, kept in memory. */
export interface PageCache {
  /** Serves a reader who is not signed in. */
  handle: Listener;
  /**
   * The text of a shared page; undefined where there is none.
   * @throws Fault service_unavailable when the portal cannot render it now
   */
  read(path: string, reader: PageReader): Promise<string | undefined>;
  /** Has all pages rendered again, because another release may render them. Until then the old ones still beat none. */
  renew(): void;
}

interface Wanted {
  /** With the part of the query that changes it. */
  readonly path: string;
  readonly freshMs: number;
  /** Names the page with everything that changes it. */
  readonly key: string;
  /** Sent to the portal. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Kept {
  readonly page: CachedPage;
  readonly generation: number;
}

/** Waits for a page; for the old one after a while, or when there is no new one. */
async function newerThan(old: Kept | undefined, made: Promise<CachedPage>, clock: Clock): Promise<CachedPage> {
  if (old === undefined) return made;
  return Promise.race([made.catch(() => old.page), clock.wait(OLD_AFTER_MS).then(() => old.page)]);
}

/**
 * Serves pages that look the same to everybody from memory: each is rendered once per content and compressed once. Everything
 * else is forwarded. A path that no page has gets the same answer as all of them, so that it costs next to nothing.
 */
export function createPageCache({ env, send, isRoute, forward, limit, clock }: PageCacheOptions): PageCache {
  const pages = new LRUCache<string, Kept>({
    maxSize: CACHE_MAX_BYTES,
    sizeCalculation: ({ page }, key) => page.bytes + key.length,
  });
  const filling = new Map<string, Promise<CachedPage>>();
  const writes: (() => void)[] = [];
  let generation = 0;

  function wantedBy({ method, url = "/", headers }: Pick<IncomingMessage, "method" | "url" | "headers">): Wanted | undefined {
    const [asked = "/", query = ""] = url.split("?", 2);
    const shared = isRoute(asked) ? sharedPage(asked, query) : NOT_FOUND;
    if (shared === undefined) return undefined;
    if (shared !== NOT_FOUND && ((method !== "GET" && method !== "HEAD") || headers.rsc !== undefined)) return undefined;
    const path = shared === NOT_FOUND ? NO_SUCH_PAGE : asked + shared.query;
    const sent: Record<string, string> = shared === NOT_FOUND ? { host: "localhost" } : {};
    const named = shared === NOT_FOUND ? [] : KEY_HEADERS;
    for (const name of named) if (headers[name] !== undefined) sent[name] = String(headers[name]);
    const { theme, code_languages } = sharedCookies(readCookies(headers.cookie ?? null));
    const kept = Object.entries(shared === NOT_FOUND ? { theme } : { theme, code_languages });
    const cookie = kept.flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`));
    if (cookie.length > 0) sent.cookie = cookie.join("; ");
    return { path, freshMs: shared.freshMs, key: JSON.stringify([path, sent]), headers: sent };
  }

  /** Asks the portal for a page. @throws Error when it cannot, or not in time */
  function render({ path, headers }: Wanted, address: string): Promise<CachedPage> {
    return new Promise((resolve, reject) => {
      const onRefused = (detail: string) => reject(new Error(detail));
      const onAnswer = (answer: IncomingMessage) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
          if (bytes > PAGE_MAX_BYTES) answer.destroy(new Error("The page is too large."));
          else chunks.push(chunk);
        });
        answer.on("error", (error) => onRefused(error.message));
        answer.on("end", () => {
          const body = Buffer.concat(chunks);
          const tls = isSecure(env);
          resolve(makeCachedPage({ status: answer.statusCode ?? 0, headers: answer.headers, body, atMs: clock.now(), tls }));
        });
      };
      send({
        client: clientOf(address),
        method: "GET",
        path,
        headers: { ...headers, [SHARED_HEADER]: "1" },
        onAnswer,
        onRefused,
      });
    });
  }

  /** Renders a page once for all who wait for it, and keeps it when it serves for everybody. */
  function fill(wanted: Wanted, address: string): Promise<CachedPage> {
    const { key, path } = wanted;
    const others = filling.get(key);
    // Who asked first may have lost its client: then this reader asks.
    if (others !== undefined) return others.catch(() => filling.get(key) ?? begin());
    return begin();

    function begin(): Promise<CachedPage> {
      const from = generation;
      const page = render(wanted, address).finally(() => filling.delete(key));
      filling.set(key, page);
      page.then(
        (made) => (made.status === 200 || path === NO_SUCH_PAGE) && pages.set(key, { page: made, generation: from }),
        () => undefined,
      );
      return page;
    }
  }

  /** How old a page is; a page of another generation is as old as can be. */
  function ageOf(kept: Kept | undefined): number {
    return kept?.generation === generation ? clock.now() - kept.page.atMs : Number.POSITIVE_INFINITY;
  }

  /** True when a page is shown as it is. */
  function isInMemory({ key, freshMs }: Wanted): boolean {
    const kept = pages.peek(key);
    return kept?.generation === generation && ageOf(kept) <= freshMs + STALE_MAX_MS;
  }

  /** The page from memory, or a new one; where there is none to be had, however old one. */
  function pageFor(wanted: Wanted, address: string): CachedPage | Promise<CachedPage> {
    const kept = pages.get(wanted.key);
    if (kept === undefined || !isInMemory(wanted)) return newerThan(kept, fill(wanted, address), clock);
    if (ageOf(kept) > wanted.freshMs) fill(wanted, address).catch(() => undefined);
    return kept.page;
  }

  function writeSome(): void {
    for (const write of writes.splice(0, WRITES_PER_TURN_COUNT)) write();
    if (writes.length > 0) setImmediate(writeSome);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    delete request.headers[SHARED_HEADER];
    const wanted = wantedBy(request);
    const address = addressOf(request);
    const fault = await limit(address, wanted !== undefined && isInMemory(wanted) ? "memory" : "portal");
    if (fault !== undefined) return refuseWith(request, response, fault);
    if (wanted === undefined) return forward(request, response);
    request.resume();
    try {
      const page = await pageFor(wanted, address);
      if (writes.length === 0) setImmediate(writeSome);
      writes.push(() => void writePage(request, response, page, clock.now()));
    } catch (error) {
      refuseBusy(request, response, reasonOf(error));
    }
  }

  return {
    handle: (request, response) => void serve(request, response),
    async read(path, { host, address }) {
      const wanted = wantedBy({ method: "GET", url: path, headers: { host } });
      if (wanted === undefined || wanted.path !== path) return undefined;
      try {
        const page = await pageFor(wanted, address);
        return page.status === 200 ? String(await page.body(undefined)) : undefined;
      } catch (error) {
        throw new Fault("service_unavailable", { detail: reasonOf(error), retry_after: RETRY_AFTER_S });
      }
    },
    renew() {
      generation += 1;
    },
  };
}
