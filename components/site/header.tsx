import Link from "next/link";
import { Wordmark } from "#components/site/wordmark";
import { PaletteButton } from "../shell/palette-button";
import { SITE_PAGES } from "./links";

const LINK = "inline-flex min-h-8 items-center whitespace-nowrap text-ink-soft hover:text-ink";

/** The top of every page. */
export function SiteHeader({ signedIn }: { signedIn: boolean }) {
  return (
    <header className="border-line border-b">
      <div className="mx-auto flex h-14 w-full max-w-6xl items-center gap-4 px-4 sm:gap-6 sm:px-8">
        <Link prefetch={false} href="/" className="flex min-h-8 items-center gap-2 font-semibold tracking-tight">
          <Wordmark />
        </Link>
        <nav aria-label="Main" className="flex flex-1 text-sm md:ml-4">
          <ul className="flex flex-1 items-center gap-4 sm:gap-6">
            {SITE_PAGES.map(({ href, label }) => (
              <li key={href} className="max-md:hidden">
                <Link prefetch={false} href={href} className={LINK}>
                  {label}
                </Link>
              </li>
            ))}
            {signedIn ? (
              <li className="ml-auto">
                <Link prefetch={false} href="/dashboard" className={LINK}>
                  Dashboard
                </Link>
              </li>
            ) : (
              <>
                <li className="ml-auto">
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
            )}
          </ul>
        </nav>
        <PaletteButton signedIn={signedIn} />
      </div>
    </header>
  );
}
