import { readFileSync } from "node:fs";
import path from "node:path";

/** Written by Next's build, relative to the working directory. */
const MANIFEST = path.join(".next", "routes-manifest.json");

interface Route {
  readonly regex: string;
}

interface Manifest {
  readonly staticRoutes: readonly Route[];
  readonly dynamicRoutes: readonly Route[];
  readonly redirects: readonly Route[];
  readonly rewrites: { readonly afterFiles: readonly Route[] };
}

/** Reads the routes of the built pages; the result tells whether one of them serves a path. */
export function readKnownRoutes(): (path: string) => boolean {
  const manifest: Manifest = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const { staticRoutes, dynamicRoutes, redirects, rewrites } = manifest;
  const routes = [...staticRoutes, ...dynamicRoutes, ...redirects, ...rewrites.afterFiles].map(({ regex }) => new RegExp(regex));
  return (path) => path.startsWith("/_next/") || routes.some((route) => route.test(path));
}
