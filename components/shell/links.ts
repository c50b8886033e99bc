import type { PageLink } from "./pages";

/** The public part, in the order a newcomer wants it. */
export const SITE_PAGES: readonly PageLink[] = [
  { href: "/docs", label: "Docs" },
  { href: "/playground", label: "Playground" },
  { href: "/status", label: "Status" },
];
