import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { clientBlock } from "#lib/access/address";
import type { Clock } from "#lib/clock";
import { reasonOf } from "#lib/db";
import { Fault } from "#lib/fault";
import { isSecure, readCookies, sessionCookieName } from "#lib/portal/cookies";
import { SHARED_HEADER, SHARED_PAGE_COOKIES, sharedPage } from "#lib/portal/shared-pages";
import { ADDRESS_HEADER } from "#lib/portal/visitor";
import { SECOND_MS } from "#lib/units";
import { type CachedPage, makeCachedPage, writePage } from "./cached-page";
import { type Listener, refuseBusy } from "./forward";
import type { Send } from "./send";

/** Memory of all pages, with their compressed copies. */
const CACHE_MAX_BYTES = 67_108_864;
const PAGE_MAX_BYTES = 4_194_304;
const RETRY_AFTER_S = 2;
/** A page past its time is still shown for this long while it is rendered again. */
const STALE_MAX_MS = 5 * SECOND_MS;
/** Answers written per turn of the event loop, so that a loop over pages does not delay quotes. */
const WRITES_PER_TURN_COUNT = 4;
/** A path that no page has: its answer serves for all such paths. */
const NO_SUCH_PAGE = "/no-such-page";
/** Headers that change a shared page: they name the service as the reader reached it. */
const KEY_HEADERS = ["host", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"];

interface PageCacheOptions {
  readonly env: Parameters<typeof sessionCookieName>[0];
  readonly send: Send;
  /** Whether a page serves this path. */
  readonly isRoute: (path: string) => boolean;
  /** Serves what is not shared. */
  readonly forward: Listener;
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
  handle: Listener;
  /**
   * The text of a shared page; undefined where there is none.
   * @throws Fault service_unavailable when the portal cannot render it now
   */
  read(path: string, reader: PageReader): Promise<string | undefined>;
  /** Forgets all pages: another release may render them. */
  clear(): void;
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

/**
 * Serves pages that look the same to everybody from memory: each is rendered once per content and compressed once. Everything
 * else is forwarded, and so is everything of a reader with a session.
 */
export function createPageCache({ env, send, isRoute, forward, clock }: PageCacheOptions): PageCache {
  const pages = new LRUCache<string, CachedPage>({ maxSize: CACHE_MAX_BYTES, sizeCalculation: ({ bytes }) => bytes });
  const filling = new Map<string, Promise<CachedPage>>();
  const writes: (() => void)[] = [];

  function wantedBy({ method, url = "/", headers }: Pick<IncomingMessage, "method" | "url" | "headers">): Wanted | undefined {
    if ((method !== "GET" && method !== "HEAD") || headers.rsc !== undefined) return undefined;
    const [asked = "/", query = ""] = url.split("?", 2);
    const shared = sharedPage(asked, query);
    if (shared === undefined && isRoute(asked)) return undefined;
    const path = shared === undefined ? NO_SUCH_PAGE : asked + shared.query;
    const cookies = readCookies(headers.cookie ?? null);
    if (cookies[sessionCookieName(env)] !== undefined) return undefined;
    const sent: Record<string, string> = {};
    for (const name of KEY_HEADERS) if (headers[name] !== undefined) sent[name] = String(headers[name]);
    const kept = SHARED_PAGE_COOKIES.filter((name) => cookies[name] !== undefined);
    if (kept.length > 0) sent.cookie = kept.map((name) => `${name}=${encodeURIComponent(cookies[name] ?? "")}`).join("; ");
    return { path, freshMs: shared?.freshMs ?? Number.POSITIVE_INFINITY, key: JSON.stringify([path, sent]), headers: sent };
  }

  /** Asks the portal for a page. @throws Error when it cannot, or not in time */
  function render({ path, headers }: Wanted, client: string): Promise<CachedPage> {
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
      send({ client, method: "GET", path, headers: { ...headers, [SHARED_HEADER]: "1" }, onAnswer, onRefused });
    });
  }

  /** Renders a page once for all who wait for it, and keeps it when it serves for everybody. */
  function fill(wanted: Wanted, client: string): Promise<CachedPage> {
    const { key, path } = wanted;
    let page = filling.get(key);
    if (page === undefined) {
      page = render(wanted, client).finally(() => filling.delete(key));
      filling.set(key, page);
      page.then(
        (made) => (made.status === 200 || path === NO_SUCH_PAGE) && pages.set(key, made),
        () => undefined,
      );
    }
    return page;
  }

  /** The page from memory, or a new one. */
  function pageFor(wanted: Wanted, client: string): CachedPage | Promise<CachedPage> {
    const kept = pages.get(wanted.key);
    const age = kept === undefined ? Number.POSITIVE_INFINITY : clock.now() - kept.atMs;
    if (kept === undefined || age > wanted.freshMs + STALE_MAX_MS) return fill(wanted, client);
    if (age > wanted.freshMs) fill(wanted, client).catch(() => undefined);
    return kept;
  }

  function writeSome(): void {
    for (const write of writes.splice(0, WRITES_PER_TURN_COUNT)) write();
    if (writes.length > 0) setImmediate(writeSome);
  }

  return {
    handle(request, response) {
      delete request.headers[SHARED_HEADER];
      const wanted = wantedBy(request);
      if (wanted === undefined) return forward(request, response);
      request.resume();
      const write = (page: CachedPage) => {
        if (writes.length === 0) setImmediate(writeSome);
        writes.push(() => void writePage(request, response, page));
      };
      const page = pageFor(wanted, clientBlock(String(request.headers[ADDRESS_HEADER] ?? "")));
      if (page instanceof Promise) page.then(write, (error: unknown) => refuseBusy(request, response, reasonOf(error)));
      else write(page);
    },
    async read(path, { host, address }) {
      const wanted = wantedBy({ method: "GET", url: path, headers: { host } });
      if (wanted === undefined || wanted.path !== path) return undefined;
      try {
        const page = await pageFor(wanted, clientBlock(address));
        return page.status === 200 ? String(await page.body(undefined)) : undefined;
      } catch (error) {
        throw new Fault("service_unavailable", { detail: reasonOf(error), retry_after: RETRY_AFTER_S });
      }
    },
    clear: () => pages.clear(),
  };
}
