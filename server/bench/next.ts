import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { operations } from "#lib/operations/declarations";
import { type Contestant, startChild } from "./child";
import { anyAddress, BEHIND_PROXY, compare, type Effort } from "./load";
import { BUILT_SERVER } from "./product";
import { comparedOf, type Row } from "./table";

/** A page that Next can show without a market. */
const PAGE = "/docs/quickstart";
const NEXT = "node_modules/next/dist/bin/next";
const QUOTES = `${operations.latestQuotes.path}?tickers=EURUSD`;
const DEMO_KEY = /"demo_key":"(\w+)"/;
const STARTS_MAX_COUNT = 2;
const LOOK_INTERVAL_MS = 5;
const ANSWER_MAX_MS = 60_000;
/** Until then the garbage of a start is collected as far as it is on its own. */
const SETTLE_MS = 5_000;
const MIB = 1_048_576;
const MS_PER_S = 1_000;

/** Starts a server until it answers a call with 200. */
async function started(
  start: () => Promise<Contestant>,
  callOf: (server: Contestant) => { readonly path: string; readonly headers?: Record<string, string> },
): Promise<{ readonly server: Contestant; readonly seconds: number }> {
  const startMs = performance.now();
  const server = await start();
  const { path: asked, headers = {} } = callOf(server);
  for (;;) {
    const response = await fetch(server.url + asked, { headers });
    const body = await response.text();
    if (response.status === 200) return { server, seconds: (performance.now() - startMs) / MS_PER_S };
    if (performance.now() - startMs > ANSWER_MAX_MS) throw new Error(`${asked} after a start: ${body.slice(0, 500)}`);
    await setTimeout(LOOK_INTERVAL_MS);
  }
}

/** Costs are those of all processes of a server. */
const wholeOf = (server: Contestant) => ({ url: server.url, cpuSeconds: server.familySeconds });

/** The service with its pages and PostgreSQL against Next alone with the same pages: the second start, memory, and a page. */
export async function benchNext(effort: Effort): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const service = () =>
    started(
      () => startChild(BUILT_SERVER, { PORT: "0", HOST: "127.0.0.1", DATA_DIR: folder, ...BEHIND_PROXY }),
      ({ output }) => ({ path: QUOTES, headers: { authorization: `Bearer ${DEMO_KEY.exec(output)?.[1]}` } }),
    );
  const alone = () =>
    started(
      () => startChild(NEXT, {}, ["start", "-p", "0", "-H", "127.0.0.1"]),
      () => ({ path: PAGE }),
    );
  const running: Contestant[] = [];
  try {
    // The first start makes the database.
    await (await service()).server.stop();
    const seconds: [own: number[], beside: number[]] = [[], []];
    for (let round = 0; round < Math.min(effort.rounds, STARTS_MAX_COUNT); round += 1) {
      await Promise.all(running.splice(0).map((server) => server.stop()));
      for (const [index, start] of [service, alone].entries()) {
        const one = await start();
        running.push(one.server);
        seconds[index]?.push(one.seconds);
      }
    }
    const [own, beside] = running as [Contestant, Contestant];
    for (const { url } of running) await (await fetch(url + PAGE)).text();
    await setTimeout(SETTLE_MS);
    const [ownMib, besideMib] = [own.familyBytes() / MIB, beside.familyBytes() / MIB];
    const page = { path: PAGE, headers: {}, status: 200, vary: anyAddress };
    const [pages] = await compare({ server: wholeOf(own), ...page }, [{ server: wholeOf(beside), ...page }], effort);
    const against = "Next alone with the same pages";
    const most = { against, bound: "at most" } as const;
    return [
      {
        id: "start",
        what: "second start, until quotes (of Next: a page) are answered with 200, s",
        target: 2,
        ...most,
        ...comparedOf(...seconds),
      },
      {
        id: "memory",
        what: "memory, idle, with pages and PostgreSQL, MiB",
        target: 2.5,
        ...most,
        ...comparedOf([ownMib], [besideMib]),
      },
      ...(pages
        ? [{ id: "page", what: "a page of the docs per CPU-second", against, target: 1, bound: "at least", ...pages } as const]
        : []),
    ];
  } finally {
    await Promise.all(running.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}
