import Link from "next/link";
import { GUEST_PAGES, type Reader, SITE_PAGES } from "../shell/pages";
import { PaletteButton } from "../shell/palette-button";

const LINK = "inline-flex min-h-9 items-center whitespace-nowrap text-ink-soft hover:text-ink";

/** The name with its logo: a price line that ends in a live point. */
function Wordmark() {
  return (
    <>
      <svg viewBox="0 0 24 24" aria-hidden="true" className="size-5 text-accent" fill="none">
        <path
          d="M2 16.5 7 10l4 4.5L16.5 7"
          stroke="currentColor"
          strokeWidth="2.25"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
        <circle cx="19.5" cy="5.5" r="2.75" fill="currentColor" />
      </svg>
      <span>Spotwire</span>
    </>
  );
}

/** The header of every page. On a phone the public links have their own row. */
export function SiteHeader({ reader }: { reader: Reader }) {
  const own = reader === "guest" ? GUEST_PAGES : [{ href: "/dashboard", label: "Dashboard" }];
  return (
    <header className="border-line border-b">
      <div className="mx-auto flex w-full max-w-(--page-width) flex-wrap items-center gap-x-4 px-4 text-sm sm:gap-x-6 sm:px-8">
        <Link prefetch={false} href="/" className="flex h-14 items-center gap-2 font-semibold text-base tracking-tight">
          <Wordmark />
        </Link>
        <nav
          aria-label="Main"
          className="max-md:order-last max-md:-mx-4 max-md:basis-[calc(100%+2rem)] max-md:border-line max-md:border-t max-md:px-4 sm:max-md:-mx-8 sm:max-md:basis-[calc(100%+4rem)] sm:max-md:px-8"
        >
          <ul className="flex items-center gap-6">
            {SITE_PAGES.map(({ href, label }) => (
              <li key={href}>
                <Link prefetch={false} href={href} className={LINK}>
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <nav aria-label="Account" className="ml-auto">
          <ul className="flex items-center gap-4 sm:gap-6">
            {own.map(({ href, label }) => (
              <li key={href} className="last:not-first:max-sm:hidden">
                <Link prefetch={false} href={href} className={LINK}>
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <PaletteButton reader={reader} />
      </div>
    </header>
  );
}
