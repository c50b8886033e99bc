import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createViteServer } from "vitest/node";
import { DEMO_KEY_DEFAULT } from "#lib/env";
import { operations } from "#lib/operations/declarations";
import { quote, type ScriptedService, startScriptedService, succeed } from "#lib/testing/scripted-service";
import { buildClient } from "./build-client";

const MODULES = path.join(process.cwd(), "node_modules");
let folder: string;
let tarball: string;
let service: ScriptedService;

/** Runs a Node program to completion. */
function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: folder });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** The unpacked tarball outside the project, as a user has it. */
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "spotwire-client-")));
  tarball = await buildClient(path.join(folder, "built", "client"));
  const home = path.join(folder, "node_modules", "spotwire-client");
  mkdirSync(home, { recursive: true });
  expect(spawnSync("tar", ["-xzf", tarball, "-C", home, "--strip-components=1"]).status).toBe(0);
  symlinkSync(path.join(MODULES, "lightweight-charts"), path.join(folder, "node_modules", "lightweight-charts"));
  service = await startScriptedService();
  service.answer(({ method }) => succeed(method === "POST" ? { ticket: "t1" } : (operations.latestQuotes.example as object)));
});

afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const CONSUMER = `
import { createClient, isSpotwireError, type Client, type Gap, type KlineMessage, type Quote, SpotwireError } from "spotwire-client";
const client: Client = createClient({ baseUrl: "https://market.example.com", key: "sw_test_x" });
export async function use(): Promise<number> {
  const { items, missing } = await client.latestQuotes({ tickers: ["EURUSD"] }, { signal: new AbortController().signal });
  const first: Quote | undefined = items[0];
  const names: string[] | undefined = missing;
  for await (const kline of client.klinesAll({ ticker: "EURUSD", timeframe: "H1", from: new Date() })) names?.push(kline.type satisfies "kline");
  const gaps: Gap[] = [];
  const stream = client.stream({ onGap: (gap) => gaps.push(gap), onStatus: ({ final_display_state }) => final_display_state === "open" });
  const klines = stream.subscribe({ stream: "kline", tickers: ["EURUSD"], timeframe: "M1" }, ({ closed, data }) => closed && data.open);
  for await (const record of klines) { const one: KlineMessage = record; one.timeframe satisfies "M1" | string; }
  try { await klines.ready; } catch (error) {
    if (isSpotwireError(error) && error.id === "unknown_ticker") throw new SpotwireError("aborted", error.detail);
  }
  return first?.bid ?? 0;
}
// @ts-expect-error a timeframe that does not exist
void client.klines({ ticker: "EURUSD", timeframe: "M2" });
// @ts-expect-error a stream that does not exist
client.stream().subscribe({ stream: "trade", tickers: ["EURUSD"] });
// @ts-expect-error quotes have no open
client.stream().subscribe({ stream: "quote", tickers: ["EURUSD"] }, ({ data }) => data.open);
`;

/** Charts of a page: the types of lightweight-charts are those of the library, and those of TradingView fit its datafeed. */
const CHARTS = `
import { CandlestickSeries, createChart, HistogramSeries } from "lightweight-charts";
import { createClient } from "spotwire-client";
import { candlesOn, feedSeries, klineSource, volumeOn } from "spotwire-client/lightweight-charts";
import { createDatafeed } from "spotwire-client/tradingview";
import type { LibraryDatafeed } from "./charting-library.ts";
const client = createClient({ baseUrl: "https://market.example.com", key: "sw_test_x" });
export function draw(place: HTMLElement): () => void {
  const chart = createChart(place);
  const series = [candlesOn(chart.addSeries(CandlestickSeries)), volumeOn(chart.addSeries(HistogramSeries, {}, 1))];
  return feedSeries({ chart, series, source: klineSource(client, "EURUSD"), timeframe: "M1" });
}
export const datafeed: LibraryDatafeed = createDatafeed(client, { onReset: (symbol: string) => void symbol });
// @ts-expect-error a timeframe that does not exist
feedSeries({ chart: createChart(document.body), series: [], source: {}, timeframe: "M2" });
`;

describe("the package", () => {
  test("the client package contains what a user needs and nothing else", () => {
    const home = path.join(folder, "node_modules", "spotwire-client");
    expect(readdirSync(home).sort()).toEqual([
      "LICENSE",
      "README.md",
      "index.cjs",
      "index.d.cts",
      "index.d.ts",
      "index.js",
      "lightweight-charts.d.ts",
      "lightweight-charts.js",
      "package.json",
      "tradingview.cjs",
      "tradingview.d.cts",
      "tradingview.d.ts",
      "tradingview.js",
    ]);
    const manifest = JSON.parse(readFileSync(path.join(home, "package.json"), "utf8"));
    const project = JSON.parse(readFileSync("package.json", "utf8"));
    expect(manifest).toMatchObject({
      name: "spotwire-client",
      version: project.version,
      license: project.license,
      sideEffects: false,
    });
    expect(manifest.dependencies).toBeUndefined();
    for (const file of readdirSync(home).filter((name) => /\.c?js$/.test(name)))
      expect(readFileSync(path.join(home, file), "utf8")).not.toMatch(/zod|node:|(from |require\()["']lightweight-charts/);
    expect(readFileSync(path.join(home, "index.d.ts"), "utf8")).toContain("/** Current bid price. */");
  });

  /** The samples of the package's guide, each as a module of its own. */
  function sampleFiles(): string[] {
    const guide = readFileSync(path.join(folder, "node_modules", "spotwire-client", "README.md"), "utf8");
    const samples = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
    expect(samples.length).toBeGreaterThan(5);
    return samples.map((code, index) => {
      const imports = code.includes('from "spotwire-client"')
        ? ""
        : 'import { createClient, isSpotwireError } from "spotwire-client";\n';
      const client = code.includes("const client =")
        ? ""
        : 'const client = createClient({ baseUrl: "https://market.example.com" });\n';
      const around =
        "declare const process: { env: Record<string, string | undefined> };\ndeclare function show(data: object): void;\n";
      const file = `sample${index}.mts`;
      writeFileSync(path.join(folder, file), `${imports}${around}${client}${code}`);
      return file;
    });
  }

  // Most of the compiler's time goes into the standard library, so that it reads that once for all modules of a kind.
  test.each([
    ["in ES and CommonJS modules and in every sample of its guide", "nodenext", ["consumer.mts", "consumer.cts"], sampleFiles],
    ["in a bundled page", "preserve", ["consumer.ts"], () => []],
  ])("the client package type-checks %s, strictly and without zod", async (_, module, files, more) => {
    for (const file of files) writeFileSync(path.join(folder, file), CONSUMER);
    const options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit", "--target", "es2022"];
    const tsc = path.join(MODULES, "typescript", "bin", "tsc");
    const { code, output } = await run([tsc, ...options, "--module", module, ...files, ...more()]);
    expect(output).toBe("");
    expect(code).toBe(0);
  });

  test("its modules for charts type-check in a page, against the types of both libraries", async () => {
    const library = readFileSync(path.join(process.cwd(), "lib", "testing", "charting-library.ts"), "utf8");
    writeFileSync(path.join(folder, "charting-library.ts"), library.replace("#lib/units", "./units.ts"));
    writeFileSync(path.join(folder, "units.ts"), readFileSync(path.join(process.cwd(), "lib", "units.ts"), "utf8"));
    writeFileSync(path.join(folder, "charts.ts"), CHARTS);
    const options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit", "--skipLibCheck"];
    const tsc = path.join(MODULES, "typescript", "bin", "tsc");
    const modules = ["--target", "es2022", "--module", "preserve", "--allowImportingTsExtensions"];
    const { code, output } = await run([tsc, ...options, ...modules, "charts.ts"]);
    expect(output).toBe("");
    expect(code).toBe(0);
  });

  test("the client package works with Vite's development server, which has no `ws` for pages", async () => {
    writeFileSync(path.join(folder, "page.ts"), 'import { createClient } from "spotwire-client";\ncreateClient;');
    const vite = await createViteServer({
      root: folder,
      configFile: false,
      logLevel: "silent",
      optimizeDeps: { entries: ["page.ts"] },
      server: { middlewareMode: true, ws: false },
    });
    try {
      const page = await vite.transformRequest("/page.ts");
      const [dependency] = /\/node_modules\/\.vite\/deps\/spotwire-client\.js[^"]*/.exec(page?.code ?? "") ?? [];
      expect(dependency).toBeDefined();
      expect((await vite.transformRequest(dependency ?? ""))?.code).toContain("websocket_unavailable");
    } finally {
      await vite.close();
    }
  });

  const PROGRAM = `
    const client = createClient({ baseUrl: process.argv[2], key: "${DEMO_KEY_DEFAULT}", maxAttempts: 1 });
    const { items } = await client.latestQuotes({ tickers: ["EURUSD"] });
    console.log("bid", items[0].bid);
    const stream = client.stream();
    try {
      for await (const { seq } of stream.subscribe({ stream: "quote", tickers: ["EURUSD"] })) { console.log("seq", seq); break; }
    } catch (error) { console.log(error.id); }
    stream.closed.catch(() => {});
    stream.close();
  `;

  /** Serves the next connection up to its first record; returns the headers of its handshake. */
  async function serveOne() {
    const peer = await service.welcomed();
    await peer.ack();
    peer.send(quote("EURUSD", 7));
    return peer.headers;
  }

  test("the client package calls and streams with the key in a header if `ws` is installed, as ES module and CommonJS", async () => {
    symlinkSync(path.join(MODULES, "ws"), path.join(folder, "node_modules", "ws"));
    writeFileSync(path.join(folder, "run.mjs"), `import { createClient } from "spotwire-client";${PROGRAM}`);
    writeFileSync(
      path.join(folder, "run.cjs"),
      `const { createClient } = require("spotwire-client");(async () => {${PROGRAM}})();`,
    );
    for (const file of ["run.mjs", "run.cjs"]) {
      const [headers, result] = await Promise.all([serveOne(), run([file, service.url])]);
      expect(result).toEqual({ code: 0, output: `bid ${operations.latestQuotes.example.items[0]?.bid}\nseq 7\n` });
      expect(headers.authorization).toBe(`Bearer ${DEMO_KEY_DEFAULT}`);
    }
    rmSync(path.join(folder, "node_modules", "ws"));
  });

  test("the client package streams with a ticket if only the built-in WebSocket is available", async () => {
    writeFileSync(path.join(folder, "run.mjs"), `import { createClient } from "spotwire-client";${PROGRAM}`);
    // Built into Node from version 22, and behind this flag before.
    const flag = process.versions.node.startsWith("20.") ? ["--experimental-websocket"] : [];
    const [headers, { code, output }] = await Promise.all([serveOne(), run([...flag, "run.mjs", service.url])]);
    expect([code, output]).toEqual([0, expect.stringContaining("seq 7")]);
    expect(headers["sec-websocket-protocol"]?.replaceAll(" ", "")).toBe("market.v1,ticket.t1");
    expect(headers.authorization).toBeUndefined();
  });

  test.runIf(process.versions.node.startsWith("20."))("says what is missing where there is no WebSocket at all", async () => {
    writeFileSync(path.join(folder, "run.mjs"), `import { createClient } from "spotwire-client";${PROGRAM}`);
    expect((await run(["run.mjs", service.url])).output).toContain("websocket_unavailable");
  });
});
