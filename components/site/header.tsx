import Link from "next/link";
import { Wordmark } from "#components/site/wordmark";
import { REFERENCE_PAGES, type Reader } from "../shell/pages";
import { PaletteButton } from "../shell/palette-button";

const LINK = "whitespace-nowrap text-ink-soft hover:text-ink";

/** The top of every page. References leave the portal for what machines read, so they are plain anchors. */
export function SiteHeader({ reader }: { reader: Reader }) {
  return (
    <header className="border-line border-b">
      <div className="mx-auto flex h-14 w-full max-w-6xl items-center gap-4 px-4 sm:gap-6 sm:px-8">
        <Link prefetch={false} href="/" className="flex items-center gap-2 font-semibold tracking-tight">
          <Wordmark />
        </Link>
        <nav aria-label="Main" className="ml-auto text-sm">
          <ul className="flex items-center gap-4 sm:gap-6">
            {REFERENCE_PAGES.map(({ href, label }) => (
              <li key={href} className="max-md:hidden">
                <a href={href} className={LINK}>
                  {label}
                </a>
              </li>
            ))}
            {reader === "guest" ? (
              <>
                <li>
                  <Link prefetch={false} href="/signin" className={LINK}>
                    Sign in
                  </Link>
                </li>
                <li className="max-sm:hidden">
                  <Link prefetch={false} href="/signup" className={LINK}>
                    Create an account
                  </Link>
                </li>
              </>
            ) : (
              <li>
                <Link prefetch={false} href="/dashboard" className={LINK}>
                  Dashboard
                </Link>
              </li>
            )}
          </ul>
        </nav>
        <PaletteButton reader={reader} />
      </div>
    </header>
  );
}
