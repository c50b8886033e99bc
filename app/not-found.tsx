import type { Metadata } from "next";
import Link from "next/link";
import { PageMain } from "#components/shell/page-main";
import { NearPages } from "#components/site/near-pages";
import { PopularPages } from "#components/site/popular-pages";
import { SearchBox } from "#components/site/search-box";

// It is kept for all readers, whatever they call this service (server/portal/page-cache), so it names no address of a picture.
export const metadata: Metadata = {
  title: "Page not found",
  description: "This URL has no page.",
  openGraph: { images: [] },
  twitter: { images: [] },
};

/** The page for an unknown address. */
export default function NotFound() {
  return (
    <PageMain>
      <section className="max-w-prose">
        <p className="font-mono text-ink-faint text-sm">404</p>
        <h1 className="mt-2 font-semibold text-3xl tracking-tight">Page not found</h1>
        <p className="mt-4 mb-6 text-ink-soft">
          The link may be outdated or mistyped. Search for the page, or go{" "}
          <Link href="/" className="text-accent underline">
            back to the home page
          </Link>
          .
        </p>
        <SearchBox />
        <NearPages />
      </section>
      <PopularPages />
    </PageMain>
  );
}
