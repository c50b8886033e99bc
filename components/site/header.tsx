import Link from "next/link";
import { GUEST_PAGES, SITE_PAGES } from "../shell/pages";
import { PaletteButton } from "../shell/palette-button";
import { buttonClass } from "../ui/button";
import { AccountMenu } from "./account-menu";
import type { SiteReader } from "./reader";
import { SiteLinks } from "./site-links";
import { SiteSheet } from "./site-sheet";

const LINK =
  "relative inline-flex h-(--header-height) items-center whitespace-nowrap text-ink-soft hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-ink aria-[current=page]:after:absolute aria-[current=page]:after:inset-x-0 aria-[current=page]:after:-bottom-px aria-[current=page]:after:h-0.5 aria-[current=page]:after:bg-accent";

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

function HomeLink() {
  return (
    <Link prefetch={false} href="/" className="flex min-h-11 items-center gap-2 font-semibold text-base tracking-tight">
      <Wordmark />
    </Link>
  );
}

const [SIGN_IN, ...SIGN_UP] = GUEST_PAGES;

function GuestLinks() {
  return (
    <nav aria-label="Account" className="max-md:hidden">
      <ul className="flex items-center gap-5">
        {SIGN_IN === undefined ? null : <SiteLinks pages={[SIGN_IN]} className={LINK} />}
        <SiteLinks pages={SIGN_UP} className={buttonClass("primary")} />
      </ul>
    </nav>
  );
}

/** The header of every page, one row that stays in view. On a phone a button opens the links as a sheet. */
export function SiteHeader({ reader }: { reader: SiteReader | undefined }) {
  return (
    <header className="sticky top-0 z-30 border-line border-b bg-canvas print:hidden">
      <div className="mx-auto flex h-(--header-height) w-full max-w-(--page-width) items-center gap-4 px-4 text-sm sm:px-8 md:gap-6">
        <HomeLink />
        <nav aria-label="Main" className="max-md:hidden">
          <ul className="flex items-center gap-6">
            <SiteLinks pages={SITE_PAGES} className={LINK} />
          </ul>
        </nav>
        <div className="ml-auto flex items-center gap-2 md:gap-5">
          <PaletteButton reader={reader === undefined ? "guest" : reader.operator ? "operator" : "developer"} />
          {reader === undefined ? (
            <GuestLinks />
          ) : (
            <div className="max-md:hidden">
              <AccountMenu {...reader} />
            </div>
          )}
          <SiteSheet reader={reader}>
            <HomeLink />
          </SiteSheet>
        </div>
      </div>
    </header>
  );
}
