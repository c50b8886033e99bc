import type { Metadata } from "next";
import Link from "next/link";
import { PageMain } from "#components/shell/page-main";

export const metadata: Metadata = { title: "Nothing here" };

/** What a wrong address answers. */
export default function NotFound() {
  return (
    <PageMain>
      <section className="max-w-prose">
        <p className="font-mono text-ink-faint text-sm">404</p>
        <h1 className="mt-2 font-semibold text-3xl tracking-tight">There is nothing at this address</h1>
        <p className="mt-4 text-ink-soft">
          The link may be old, or mistyped.{" "}
          <Link href="/" className="text-accent underline">
            Back to the start
          </Link>
          , or read what is served in the{" "}
          <a href="/openapi.json" className="text-accent underline">
            OpenAPI document
          </a>
          .
        </p>
      </section>
    </PageMain>
  );
}
