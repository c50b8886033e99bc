"use client";

import { type ReactNode, useRef } from "react";
import { dashboardPages, guestPages, type Offered, sitePages } from "../shell/pages";
import { OrganisationSwitch } from "./organisation-switch";
import type { SiteReader } from "./reader";
import { SignOutButton } from "./sign-out-button";
import { SiteLinks } from "./site-links";

const ITEM =
  "flex min-h-12 w-full items-center rounded-md px-3 text-left text-ink-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-sunken aria-[current=page]:font-medium aria-[current=page]:text-ink";
const ICON_BUTTON = "flex size-11 items-center justify-center rounded-md text-ink-soft hover:bg-sunken hover:text-ink";

function Icon({ path }: { path: string }) {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true" className="size-5" fill="none" stroke="currentColor" strokeWidth="1.75">
      <path d={path} strokeLinecap="round" />
    </svg>
  );
}

interface SiteSheetProps {
  readonly reader: SiteReader | undefined;
  readonly offered: Offered;
  readonly children: ReactNode;
}

/**
 * The navigation on a phone: a button that opens all links as a sheet. It is a modal dialog of the browser, which keeps the focus
 * inside, closes it with Esc and gives the focus back.
 */
export function SiteSheet({ reader, offered, children }: SiteSheetProps) {
  const sheet = useRef<HTMLDialogElement>(null);
  const close = () => sheet.current?.close();
  return (
    <div className="-mr-2.5 lg:hidden">
      <button type="button" aria-haspopup="dialog" onClick={() => sheet.current?.showModal()} className={ICON_BUTTON}>
        <span className="sr-only">Menu</span>
        <Icon path="M3 6h14M3 10h14M3 14h14" />
      </button>
      {/** biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the sheet closes it; for the keyboard Esc does */}
      <dialog
        ref={sheet}
        aria-label="Menu"
        onClick={({ target, currentTarget }) => target === currentTarget && close()}
        className="fixed inset-x-0 top-0 m-0 max-h-dvh w-full max-w-none overscroll-contain bg-canvas text-ink shadow-xl backdrop:bg-black/45"
      >
        <div className="flex h-(--header-height) items-center justify-between border-line border-b px-4 sm:px-8">
          {children}
          <button type="button" onClick={close} className={`${ICON_BUTTON} -mr-2.5`}>
            <span className="sr-only">Close</span>
            <Icon path="m5 5 10 10M15 5 5 15" />
          </button>
        </div>
        <nav aria-label="All pages" className="p-2 pb-4 text-base sm:px-6">
          <ul>
            <SiteLinks pages={sitePages(offered)} className={ITEM} onGo={close} />
          </ul>
          {reader === undefined ? null : (
            <>
              <p title={reader.email} className="mt-2 truncate border-line border-t px-3 pt-4 text-ink-faint text-sm">
                {reader.email}
              </p>
              <OrganisationSwitch reader={reader} />
            </>
          )}
          <ul className={reader === undefined ? "mt-2 border-line border-t pt-2" : ""}>
            <SiteLinks
              pages={reader === undefined ? guestPages(offered) : dashboardPages(reader.operator)}
              className={ITEM}
              onGo={close}
            />
            {reader === undefined ? null : (
              <li>
                <SignOutButton className={ITEM} />
              </li>
            )}
          </ul>
        </nav>
      </dialog>
    </div>
  );
}
