import type { Metadata } from "next";
import Link from "next/link";
import { PageMain } from "#components/shell/page-main";

export const metadata: Metadata = { title: "Page not found" };

/** The page for an unknown address. */
export default function NotFound() {
  return (
    <PageMain>
      <section className="max-w-prose">
        <p className="font-mono text-ink-faint text-sm">404</p>
        <h1 className="mt-2 font-semibold text-3xl tracking-tight">Page not found</h1>
        <p className="mt-4 text-ink-soft">
          The link may be outdated or mistyped. Go{" "}
          <Link href="/" className="text-accent underline">
            back to the home page
          </Link>
          or see the{" "}
          <a href="/openapi.json" className="text-accent underline">
            API reference
          </a>
          .
        </p>
      </section>
    </PageMain>
  );
}
