import Link from "next/link";
import type { Brand } from "#lib/brand";
import { type Offered, SIGN_IN, SIGN_UP, sitePages } from "../shell/pages";
import { PaletteButton } from "../shell/palette-button";
import { ZoneSwitch } from "../shell/zone-switch";
import { buttonClass } from "../ui/button";
import { AccountMenu } from "./account-menu";
import type { SiteReader } from "./reader";
import { SiteLinks } from "./site-links";
import { SiteSheet } from "./site-sheet";

const LINK =
  "relative inline-flex h-(--header-height) items-center whitespace-nowrap text-ink-soft hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-ink aria-[current=page]:after:absolute aria-[current=page]:after:inset-x-0 aria-[current=page]:after:-bottom-px aria-[current=page]:after:h-0.5 aria-[current=page]:after:bg-accent";

/** The logo of a brand, one for each theme; that of the program is a price line that ends in a live point. */
function Logo({ isOwn, logo }: Brand) {
  if (logo !== undefined)
    return (logo.light === logo.dark ? ["logo"] : ["logo", "logo-dark"]).map((file, _, files) => (
      // biome-ignore lint/performance/noImgElement: its size is not known, and a picture of the brand is served as it is
      <img
        key={file}
        src={`/brand/${file}`}
        alt=""
        className={`h-6 w-auto max-w-32 ${files.length === 1 ? "" : file === "logo" ? "on-light" : "on-dark"}`}
      />
    ));
  if (isOwn) return null;
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" className="size-5 text-accent" fill="none">
      <path d="M2 16.5 7 10l4 4.5L16.5 7" stroke="currentColor" strokeWidth="2.25" strokeLinecap="round" strokeLinejoin="round" />
      <circle cx="19.5" cy="5.5" r="2.75" fill="currentColor" />
    </svg>
  );
}

function HomeLink({ brand }: { brand: Brand }) {
  return (
    <Link prefetch={false} href="/" className="flex min-h-11 min-w-0 items-center gap-2 font-semibold text-base tracking-tight">
      <Logo {...brand} />
      <span className={`min-w-0 max-w-[50vw] truncate ${brand.isOwn && brand.logo === undefined ? "" : "max-[22rem]:sr-only"}`}>
        {brand.name}
      </span>
    </Link>
  );
}

function GuestLinks({ signUp }: Pick<Offered, "signUp">) {
  return (
    <nav aria-label="Account" className="max-lg:hidden">
      <ul className="flex items-center gap-5">
        <SiteLinks pages={[SIGN_IN]} className={LINK} />
        {signUp ? <SiteLinks pages={[SIGN_UP]} className={buttonClass("primary")} /> : null}
      </ul>
    </nav>
  );
}

interface SiteHeaderProps {
  readonly brand: Brand;
  readonly reader: SiteReader | undefined;
  readonly offered: Offered;
}

/** The header of every page, one row that stays in view. On a phone a button opens the links as a sheet. */
export function SiteHeader({ brand, reader, offered }: SiteHeaderProps) {
  return (
    <header className="sticky top-0 z-30 border-line border-b bg-canvas print:hidden">
      <div className="mx-auto flex h-(--header-height) w-full max-w-(--page-width) items-center gap-2 px-4 text-sm min-[24rem]:gap-4 sm:px-8 lg:gap-6">
        <HomeLink brand={brand} />
        <nav aria-label="Main" className="max-lg:hidden">
          <ul className="flex items-center gap-6">
            <SiteLinks pages={sitePages(offered)} className={LINK} />
          </ul>
        </nav>
        <div className="ml-auto flex shrink-0 items-center gap-2 lg:gap-5">
          {brand.source === undefined ? null : (
            <a href={brand.source} className={`${LINK} max-xl:hidden`}>
              Source code
            </a>
          )}
          <ZoneSwitch />
          <PaletteButton reader={reader === undefined ? "guest" : reader.operator ? "operator" : "developer"} offered={offered} />
          {reader === undefined ? (
            <GuestLinks {...offered} />
          ) : (
            <div className="max-lg:hidden">
              <AccountMenu reader={reader} />
            </div>
          )}
          <SiteSheet reader={reader} offered={offered}>
            <HomeLink brand={brand} />
          </SiteSheet>
        </div>
      </div>
    </header>
  );
}
