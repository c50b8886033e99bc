"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import type { PortalUser } from "#lib/contract/portal";
import type { ApiFailure } from "../portal/api";
import { signOut } from "../portal/sign-in";
import { Button } from "../ui/button";
import { ADMIN_PAGES, dashboardPages, isCurrentPage } from "./pages";

const LINK =
  "block whitespace-nowrap rounded-md px-3 py-1.5 pointer-coarse:py-2.5 text-ink-soft text-sm leading-6 hover:text-ink aria-[current=page]:bg-line/70 aria-[current=page]:font-medium aria-[current=page]:text-ink";

interface SideNavProps {
  /** The section this navigation belongs to. */
  readonly area: "Dashboard" | "Operators";
  readonly user: PortalUser;
}

/** The navigation of a signed-in section: a column beside the page, a bar above it on narrow screens. */
export function SideNav({ area, user }: SideNavProps) {
  const { email, organisation } = user;
  const own = dashboardPages(user.operator);
  const pages = area === "Operators" ? ADMIN_PAGES : own;
  const path = usePathname();
  const current = pages.find(({ href }) => isCurrentPage(href, path, pages))?.href ?? "";
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow screen the bar is wider than the screen: scrolls the current page into view.
    const here = bar.current?.querySelector<HTMLElement>(`a[href="${CSS.escape(current)}"]`);
    if (here) bar.current?.scrollTo({ left: here.offsetLeft - bar.current.clientWidth / 2 + here.offsetWidth / 2 });
  }, [current]);
  const [failure, setFailure] = useState<ApiFailure>();
  const leave = async () => {
    const result = await signOut();
    setFailure("failure" in result ? result.failure : undefined);
  };
  return (
    <div className="min-w-0 md:sticky md:top-[calc(var(--header-height)+2rem)] md:w-48 md:shrink-0 md:self-start">
      <nav
        ref={bar}
        aria-label={area}
        className="relative max-md:-mx-4 max-md:-mt-1 max-md:overflow-x-auto max-md:border-line max-md:border-b max-md:px-4 max-md:pt-1 max-md:pb-2"
      >
        <ul className="flex w-max gap-1 md:w-auto md:flex-col">
          {pages.map(({ href, label }) => (
            <li key={href}>
              <Link prefetch={false} href={href} aria-current={current === href ? "page" : undefined} className={LINK}>
                {label}
              </Link>
            </li>
          ))}
          <li className="md:hidden">
            <button type="button" onClick={leave} className={LINK}>
              Sign out
            </button>
          </li>
        </ul>
      </nav>
      <div className="mt-6 border-line border-t pt-4 max-md:hidden">
        {organisation === email ? null : (
          <p title={organisation} className="truncate px-3 pb-1 font-medium text-xs">
            {organisation}
          </p>
        )}
        <p title={email} className="truncate px-3 text-ink-faint text-xs">
          {email}
        </p>
        <Button kind="ghost" onClick={leave} className="mt-1 w-full justify-start px-3!">
          Sign out
        </Button>
      </div>
      {failure === undefined ? null : (
        <p role="alert" className="px-3 pt-2 text-danger text-xs leading-5">
          {failure.detail}
        </p>
      )}
    </div>
  );
}
