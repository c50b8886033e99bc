"use client";

import { useId, useRef } from "react";
import { dashboardPages } from "../shell/pages";
import { OrganisationSwitch } from "./organisation-switch";
import type { SiteReader } from "./reader";
import { SignOutButton } from "./sign-out-button";
import { SiteLinks } from "./site-links";

const ITEM =
  "flex min-h-9 w-full items-center rounded-md px-3 text-left text-ink-soft text-sm hover:bg-sunken hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-ink pointer-coarse:min-h-11";

/** The reader's own pages and sign-out, behind a button. The browser opens and closes it: Esc or a click outside closes it. */
export function AccountMenu({ reader }: { reader: SiteReader }) {
  const { email, operator } = reader;
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        className="flex size-9 pointer-coarse:size-11 items-center justify-center rounded-full border border-edge bg-surface font-medium text-ink-soft text-sm uppercase hover:text-ink"
      >
        <span className="sr-only">Account menu</span>
        <span aria-hidden="true">{email.slice(0, 1)}</span>
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        className="fixed inset-[calc(var(--header-height)+0.25rem)_max(2rem,(100vw-var(--page-width))/2+2rem)_auto_auto] m-0 w-56 rounded-lg border border-line bg-surface p-1 text-ink shadow-lg"
      >
        <p title={email} className="truncate px-3 py-2 text-ink-faint text-xs">
          {email}
        </p>
        <OrganisationSwitch reader={reader} />
        <nav aria-label="Your pages" className="border-line border-t py-1">
          <ul>
            <SiteLinks pages={dashboardPages(operator)} className={ITEM} onGo={() => menu.current?.hidePopover()} />
          </ul>
        </nav>
        <div className="border-line border-t pt-1">
          <SignOutButton className={ITEM} />
        </div>
      </div>
    </>
  );
}
