import type { Browser } from "playwright";
import { createClient } from "#lib/client/index";
import type { Product } from "../../server";
import type { Visitor } from "../../visitor";

/** Something that happens again and again until the soak ends. */
export interface Loop {
  /** How often it happened. */
  count(): number;
  /** What went wrong. */
  readonly problems: string[];
  /** Ends it after the current turn. */
  end(): Promise<void>;
}

const PROBLEMS_MAX_COUNT = 20;
const OWN_PAGES = ["", "/keys", "/usage", "/logs", "/account"].map((page) => `/dashboard${page}`);
const OPERATOR_PAGES = ["", "/plans", "/calendars", "/feeds", "/audit"].map((page) => `/admin${page}`);
/** Pages and documents that the index of the docs does not list. */
const OTHER_PAGES = [
  "/",
  "/status",
  "/status.json",
  "/playground",
  "/signin",
  "/signup",
  "/forgot",
  "/no/such/page",
  "/docs",
  "/docs/search.json",
  "/llms.txt",
  "/llms-full.txt",
  "/openapi.json",
  "/asyncapi.json",
  "/postman.json",
  "/grafana.json",
];
const DOCS_LINK = /\]\((?:https?:\/\/[^/)]+)?(\/docs[^)#]*)/g;

/** Runs `turn` with a pause after each, until its end. */
function startLoop(name: string, pauseMs: number, turn: (round: number) => Promise<void>): Loop {
  const problems: string[] = [];
  let rounds = 0;
  let ending = false;
  let wake = () => {};
  async function run(): Promise<void> {
    while (!ending) {
      await turn(rounds).catch((error: unknown) => {
        if (problems.length < PROBLEMS_MAX_COUNT) problems.push(`${name}: ${error}`);
      });
      rounds += 1;
      const pause = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const timer = setTimeout(wake, pauseMs);
      if (!ending) await pause;
      clearTimeout(timer);
    }
  }
  const running = run();
  return {
    count: () => rounds,
    problems,
    end() {
      ending = true;
      wake();
      return running;
    },
  };
}

/** The addresses of all pages for everybody, those of the docs as page and as Markdown. */
export async function publicPages(baseUrl: string): Promise<string[]> {
  const index = await (await fetch(`${baseUrl}/llms.txt`)).text();
  const docs = [...index.matchAll(DOCS_LINK)].map(([, path = ""]) => path);
  if (docs.length === 0) throw new Error("the index of the docs lists no page");
  return [...OTHER_PAGES, ...new Set(docs.flatMap((path) => [path, path.replace(/\.md$/, "")]))];
}

/** Reads one page of the list after the other, from many addresses. */
export function startReader(product: Product, pages: readonly string[], reader: number, pauseMs: number): Loop {
  return startLoop("reader", pauseMs, async (round) => {
    const path = pages[(round + reader * 7) % pages.length] ?? "/";
    const headers = { "x-forwarded-for": `198.18.${reader}.${round % 250}` };
    const response = await fetch(product.baseUrl + path, { headers });
    await response.arrayBuffer();
    if (!response.ok && path !== "/no/such/page") throw new Error(`${path} was answered with ${response.status}`);
  });
}

async function openAll({ baseUrl }: Product, { cookies }: Visitor, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(baseUrl + path, { headers: { cookie }, redirect: "manual" });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`);
  }
}

/** Opens every page of an operator who is signed in. */
export function startOperator(product: Product, visitor: Visitor, pauseMs: number): Loop {
  return startLoop("operator", pauseMs, () => openAll(product, visitor, OPERATOR_PAGES));
}

/** Signs in, opens every page of the dashboard, and signs out. */
export function startDeveloper(product: Product, visitor: Visitor, email: string, password: string, pauseMs: number): Loop {
  return startLoop("developer", pauseMs, async () => {
    const error = await visitor.signIn(email, password);
    if (error !== null) throw new Error(`the sign-in failed: ${error}`);
    await openAll(product, visitor, OWN_PAGES);
    await visitor.signOut();
  });
}

/** Opens the landing page and the playground in a browser, sends a call, and waits for ticks of the stream. */
export function startBrowsing(product: Product, browser: Browser, pauseMs: number): Loop {
  return startLoop("browser", pauseMs, async (round) => {
    const context = await browser.newContext({ extraHTTPHeaders: { "x-forwarded-for": `198.19.${round % 250}.1` } });
    try {
      const page = await context.newPage();
      await page.goto(product.baseUrl);
      await page.locator('[data-feed="stream"]').first().waitFor();
      await page.goto(`${product.baseUrl}/playground`);
      const answer = page.getByRole("region", { name: "Answer", exact: true });
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await answer.getByText("200 OK").waitFor();
      await answer.getByText("Streaming", { exact: true }).waitFor();
    } finally {
      await context.close();
    }
  });
}

/** Clients of the stream that count the updates they receive. */
export async function startStreams(product: Product, key: string, tickers: readonly string[], count: number) {
  let updates = 0;
  const streams = Array.from({ length: count }, () => createClient({ baseUrl: product.baseUrl, key }).stream());
  const subscriptions = streams.flatMap((stream) => [
    stream.subscribe({ stream: "quote", tickers: [...tickers] }, ({ event }) => {
      if (event === "update") updates += 1;
    }),
    stream.subscribe({ stream: "kline", tickers: [...tickers], timeframe: "M1" }),
  ]);
  await Promise.all(subscriptions.map(({ ready }) => ready));
  return {
    updates: () => updates,
    async close(): Promise<void> {
      for (const stream of streams) stream.close();
      await Promise.all(streams.map(({ closed }) => closed));
    },
  };
}
