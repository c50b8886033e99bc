import type { SourceFile } from "./sources";

/** What the files of a place may import; the first rule that matches a path applies. */
interface ArrowRule {
  /** A folder ("lib/contract/") or one file without extension ("lib/env"); "*" stands for any one folder. */
  readonly place: string;
  /** Places of the project, written like `place`; `types:` allows only types. */
  readonly project: readonly string[];
  /** Packages by name; "node:" for every built-in module; "*" for all; `types:` allows only types. */
  readonly packages: readonly string[];
}

/** What any active part of lib may import. */
const GROUND = [
  "lib/clock",
  "lib/units",
  "lib/fault",
  "lib/log",
  "lib/storage-errors",
  "lib/turn-budget",
  "lib/with-timeout",
  "lib/repeat",
  "lib/queue",
  "lib/spans",
  "lib/content-encoding",
  "lib/request-address",
  "lib/browser-name",
  "lib/metrics",
  "lib/metrics-feeds",
  "lib/control",
  "lib/service-state",
  "lib/check-words",
  "types:lib/env",
  "lib/brand",
];
/** What operations are called with and answer, for everybody: browsers too. How they answer is in the same folders. */
const DECLARATIONS = ["lib/operations/declarations", "lib/operations/*/declaration"];
const MEANING = ["lib/contract/", "lib/domain/", ...DECLARATIONS];
const REACT = ["react", "react-dom", "next"];
const RADIX = ["dialog", "dropdown-menu", "tabs", "toast", "tooltip"].map((name) => `@radix-ui/react-${name}`);

/** Which imports are allowed. They point from what runs to what things mean, never back. */
const ARROWS: readonly ArrowRule[] = [
  { place: "lib/contract/", project: ["lib/contract/", "lib/units"], packages: ["zod"] },
  ...DECLARATIONS.map((place) => ({ place, project: ["lib/contract/", ...DECLARATIONS, "lib/units"], packages: ["zod"] })),
  {
    place: "lib/operations/",
    project: ["lib/operations/", "lib/http/", "lib/market/", "lib/access/principal", "lib/runtime", ...MEANING, ...GROUND],
    packages: ["node:", "lru-cache"],
  },
  {
    place: "lib/domain/",
    project: [
      "lib/domain/",
      "lib/contract/limits",
      "lib/units",
      "types:lib/contract/",
      ...DECLARATIONS.map((place) => `types:${place}`),
    ],
    packages: ["decimal.js"],
  },
  {
    // It is published: no schema, no built-in module, and `ws` only for runtimes without WebSocket.
    place: "lib/client/",
    project: [
      "lib/client/",
      "lib/contract/close-codes",
      "lib/contract/key-text",
      "lib/contract/limits",
      "lib/instrument-search",
      "lib/units",
      "types:lib/contract/",
      ...DECLARATIONS.map((place) => `types:${place}`),
    ],
    packages: ["ws", "types:lightweight-charts"],
  },
  { place: "lib/docs/samples/", project: ["lib/docs/samples/", "lib/contract/", "lib/units"], packages: [] },
  {
    place: "lib/docs/",
    project: [
      "lib/docs/",
      "lib/contract/",
      ...DECLARATIONS,
      "lib/generated/",
      "lib/brand",
      "lib/env-brand",
      "lib/content-encoding",
      "lib/request-address",
      "lib/units",
      "package.json",
    ],
    packages: ["zod", "lru-cache", "node:", "fumadocs-core", "fumadocs-mdx", "shiki"],
  },
  {
    place: "lib/market/",
    project: ["lib/market/", "lib/instrument-search", ...MEANING, ...GROUND],
    packages: ["node:", "lru-cache", "zod"],
  },
  { place: "lib/access/", project: ["lib/access/", ...MEANING, ...GROUND], packages: ["node:", "lru-cache", "zod", "ipaddr.js"] },
  { place: "lib/webhooks/", project: ["lib/webhooks/", ...MEANING, ...GROUND], packages: ["node:", "ipaddr.js"] },
  { place: "lib/mail/", project: ["lib/mail/", ...GROUND], packages: ["node:"] },
  {
    place: "lib/http/",
    project: ["lib/http/", "lib/market/", "lib/access/", "lib/runtime", ...MEANING, ...GROUND],
    packages: ["node:", "zod", "lru-cache", "negotiator"],
  },
  {
    place: "lib/mcp/",
    project: [
      "lib/mcp/",
      "lib/http/",
      "lib/operations/handlers",
      "lib/docs/json-schema",
      "lib/access/oauth",
      "lib/access/principal",
      "lib/runtime",
      ...MEANING,
      ...GROUND,
    ],
    packages: ["@modelcontextprotocol/server"],
  },
  // The parts of a process are opened by the server, which has the database among them.
  { place: "lib/runtime", project: ["lib/", "types:server/store/database/db"], packages: [] },
  { place: "lib/testing/", project: ["lib/", "vitest.config"], packages: ["*"] },
  {
    place: "lib/env",
    project: [
      "lib/contract/",
      "lib/units",
      "lib/env-addresses",
      "lib/env-brand",
      "lib/env-feeds",
      "lib/env-history",
      "lib/env-telemetry",
    ],
    packages: ["zod"],
  },
  { place: "lib/env-addresses", project: [], packages: ["zod"] },
  { place: "lib/env-brand", project: ["lib/contract/"], packages: ["zod"] },
  { place: "lib/brand", project: ["lib/contract/", "lib/env-brand"], packages: [] },
  { place: "lib/env-history", project: [], packages: ["zod", "node:"] },
  { place: "lib/env-telemetry", project: [], packages: ["zod"] },
  { place: "lib/env-feeds", project: ["lib/contract/"], packages: ["zod"] },
  { place: "lib/", project: ["lib/"], packages: ["*"] },
  { place: "server/cli/", project: ["server/", "lib/", "prisma/", "app/api/v1/"], packages: ["*"] },
  {
    place: "server/",
    project: [
      "server/",
      "lib/",
      "prisma/",
      "package.json",
      "app/api/",
      "app/mcp/",
      "app/metrics/",
      "app/status.json/",
      "app/openapi.json/",
      "app/asyncapi.json/",
      "app/grafana.json/",
    ],
    packages: ["*"],
  },
  {
    place: "components/docs/",
    project: ["components/", "lib/contract/key-text", "lib/docs/search-docs", "types:lib/docs/"],
    packages: [...REACT, ...RADIX, "fumadocs-core"],
  },
  {
    place: "components/",
    project: [
      "components/",
      "lib/contract/",
      ...DECLARATIONS,
      "lib/client/",
      "lib/docs/samples/",
      "types:lib/brand",
      "lib/data-words",
      "lib/domain/month",
      "lib/duration",
      "lib/service-state",
      "lib/check-words",
      "lib/instrument-search",
      "lib/browser-name",
      "lib/units",
    ],
    packages: [...REACT, "swr", ...RADIX, "cmdk", "lightweight-charts", "zod", "@simplewebauthn/browser"],
  },
  { place: "app/", project: ["app/", "components/", "lib/", "server/pages/"], packages: [...REACT, "fumadocs-core"] },
  {
    place: "prisma/",
    project: ["prisma/", "lib/", "server/store/database/db", "server/store/database/connection", "package.json"],
    packages: ["*"],
  },
  {
    // It also acts as the operator, who starts and stops engines, and it uses the published client.
    place: "e2e/faults/",
    project: ["e2e/", "lib/contract/", ...DECLARATIONS, "lib/client/", "lib/testing/", "lib/units", "server/testing/"],
    packages: ["*"],
  },
  {
    // It builds the Python client, and scripts the faults that the TypeScript client meets in its own tests.
    place: "e2e/python/",
    project: [
      "e2e/",
      "lib/contract/",
      ...DECLARATIONS,
      "lib/testing/",
      "lib/units",
      "lib/docs/samples/",
      "server/cli/build-python-client",
    ],
    packages: ["*"],
  },
  {
    // It runs the command that makes keys.
    place: "e2e/key-endpoint",
    project: [
      "lib/clock",
      "lib/log",
      "lib/testing/lazy-endpoint",
      "server/cli/keys",
      "server/database/database",
      "server/testing/terminal",
    ],
    packages: ["node:"],
  },
  {
    place: "e2e/",
    project: [
      "e2e/",
      "lib/contract/",
      ...DECLARATIONS,
      ...[
        "cache-folder",
        "certificates",
        "charting-library",
        "install-packages",
        "lazy-endpoint",
        "packages",
        "ports",
        "stream-client",
        "tools",
      ].map((file) => `lib/testing/${file}`),
      "lib/docs/search-docs",
      "lib/units",
    ],
    packages: ["*"],
  },
];

/** Only the HTTP server uses the route handlers, and only the portal's process uses Next. */
const HTTP = "server/http/";
const PORTAL = "server/portal/";
/** Helps tests and benches to run the product; never runs in production. */
const SUPPORT = ["lib/testing/", "server/testing/"];
/** Who may use it in addition to tests. */
const SUPPORTED = [...SUPPORT, "server/bench/", "e2e/", "prisma/generate"];

/**
 * The layers of the server from the bottom up, in the order in which a tick passes: each imports from the layers below it only.
 */
export const FLOORS: readonly string[] = [
  "server/events/",
  "server/env",
  "server/threads/",
  "server/outgoing/",
  "server/store/segments/",
  "server/store/database/",
  "server/store/history/",
  "server/store/market/",
  "server/store/klines/",
  "server/store/files/",
  "server/store/data/",
  "server/store/access/",
  "server/store/usage/",
  "server/store/users/",
  "server/store/webhooks/",
  "server/pages/",
  "server/database/",
  "server/processes/",
  // A file of history passes the rooms of the import in this order.
  "server/import/failure",
  "server/import/progress",
  "server/import/rows/",
  "server/import/files/",
  "server/import/formats/",
  "server/import/options",
  "server/import/survey/",
  "server/import/checks/",
  "server/import/load/",
  "server/import/report/",
  "server/import/",
  "server/feed/",
  "server/export/",
  "server/view/",
  "server/engine/",
  "server/event-log/",
  "server/hub/",
  "server/market/",
  "server/cluster/",
  "server/socket/",
  "server/markets",
  "server/users",
  "server/ops/",
  "server/jobs/",
  "server/portal/",
  "server/http/",
  "server/workers/",
  "server/node",
  "server/parts",
  "server/main",
];

function fits(path: string, place: string): boolean {
  const stem = path.replace(/\.(ts|tsx|mts)$/, "");
  if (place.includes("*")) return new RegExp(`^${place.replace("*", "[^/]+")}$`).test(stem);
  return place.endsWith("/") ? stem.startsWith(place) : stem === place;
}

function mayImportProject(rule: ArrowRule, target: string, typeOnly: boolean): boolean {
  return rule.project.some((allowed) =>
    allowed.startsWith("types:") ? typeOnly && fits(target, allowed.slice("types:".length)) : fits(target, allowed),
  );
}

function mayImportPackage(rule: ArrowRule, target: string, typeOnly: boolean): boolean {
  const name = target.startsWith("node:") ? "node:" : target;
  return ["*", name, ...(typeOnly ? [`types:${name}`] : [])].some((allowed) => rule.packages.includes(allowed));
}

const floorOf = (path: string) => FLOORS.findIndex((place) => fits(path, place));

/** Additional rules: imports that only some files of a place may use. */
function specialRefusal(source: SourceFile, target: string, internal: boolean): string | undefined {
  const { path } = source;
  const maySupport = SUPPORTED.some((place) => fits(path, place));
  if (!maySupport && internal && SUPPORT.some((place) => fits(target, place)))
    return "test support does not belong in production code";
  if (path.startsWith("server/") && target === "next" && !fits(path, PORTAL)) return `only ${PORTAL} may`;
  if (path.startsWith("server/") && internal && target.startsWith("app/") && !fits(path, HTTP)) return `only ${HTTP} may`;
  const [from, to] = [floorOf(path), internal ? floorOf(target) : -1];
  if (from !== -1 && to > from) return `${FLOORS[to]} is above ${FLOORS[from]}`;
  return undefined;
}

/** The forbidden imports of one file, one sentence each. Unit tests are exempt; end-to-end tests are not. */
export function wrongArrows(source: SourceFile): string[] {
  if (source.isTest && !source.path.startsWith("e2e/")) return [];
  const rule = ARROWS.find(({ place }) => fits(source.path, place));
  if (rule === undefined) return [`${source.path}: no rule says what this place may import`];
  return source.imports.flatMap(({ line, target, internal, typeOnly }) => {
    const allowed = internal ? mayImportProject(rule, target, typeOnly) : mayImportPackage(rule, target, typeOnly);
    const why = allowed ? specialRefusal(source, target, internal) : `${rule.place} may not`;
    return why === undefined ? [] : [`${source.path}:${line}: imports ${target} (${why})`];
  });
}

/** Strongly connected groups of more than one node (Tarjan's algorithm). */
function circlesOf(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];

  function visit(node: string): void {
    order.set(node, order.size);
    lowest.set(node, order.size - 1);
    open.push(node);
    for (const next of arrows.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const circle = open.splice(open.indexOf(node));
    if (circle.length > 1) found.push(circle);
  }
  for (const node of arrows.keys()) if (!order.has(node)) visit(node);
  return found;
}

/** The folder of a file: two levels deep in lib, server and components, else the file itself. Declarations are a room of their own. */
function roomOf(stem: string): string {
  if (DECLARATIONS.some((place) => fits(stem, place))) return "lib/operations/*/declaration";
  const [top, room, ...rest] = stem.split("/");
  return rest.length > 0 && ["lib", "server", "components"].includes(top ?? "") ? `${top}/${room}/` : stem;
}

/** Files and folders that import each other in a cycle; type imports count. Tests are ignored. */
export function circles(sources: readonly SourceFile[]): string[] {
  const stems = new Map(
    sources.map(({ path }) => path.replace(/\.(ts|tsx|mts)$/, "")).map((stem) => [stem.replace(/\/index$/, ""), stem]),
  );
  const files = new Map<string, Set<string>>();
  const rooms = new Map<string, Set<string>>();
  for (const { path, imports, isTest } of sources) {
    if (isTest) continue;
    const stem = path.replace(/\.(ts|tsx|mts)$/, "");
    for (const { target, internal } of imports) {
      const to = stems.get(target.replace(/\/index$/, ""));
      if (!internal || to === undefined) continue;
      files.set(stem, (files.get(stem) ?? new Set()).add(to));
      const [from, into] = [roomOf(stem), roomOf(to)];
      if (from !== into) rooms.set(from, (rooms.get(from) ?? new Set()).add(into));
    }
  }
  return [...circlesOf(files), ...circlesOf(rooms)].map((circle) => circle.join(", "));
}
