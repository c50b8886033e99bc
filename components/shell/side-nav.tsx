"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useState } from "react";
import { signOut } from "../portal/sign-in";
import { Button } from "../ui/button";
import { ADMIN_PAGES, DASHBOARD_PAGES, TO_ADMIN } from "./pages";

const LINK =
  "block whitespace-nowrap rounded-md px-3 py-1.5 text-ink-soft text-sm leading-6 hover:text-ink aria-[current=page]:bg-line/70 aria-[current=page]:font-medium aria-[current=page]:text-ink";

interface SideNavProps {
  /** Which part it is the navigation of. */
  readonly area: "Dashboard" | "Operators";
  readonly email: string;
  readonly operator: boolean;
}

/** The navigation of a signed-in part: a column beside the page, a bar above it where there is no room. */
export function SideNav({ area, email, operator }: SideNavProps) {
  const own = operator ? [...DASHBOARD_PAGES, TO_ADMIN] : DASHBOARD_PAGES;
  const pages = area === "Operators" ? ADMIN_PAGES : own;
  const path = usePathname();
  const [failed, setFailed] = useState(false);
  const leave = async () => {
    const result = await signOut();
    setFailed("failure" in result);
  };
  return (
    <div className="min-w-0 md:sticky md:top-8 md:w-48 md:shrink-0 md:self-start">
      <nav
        aria-label={area}
        className="-mx-4 overflow-x-auto px-4 max-md:border-line max-md:border-b max-md:pb-2 md:mx-0 md:px-0"
      >
        <ul className="flex gap-1 md:flex-col">
          {pages.map(({ href, label }) => (
            <li key={href}>
              <Link prefetch={false} href={href} aria-current={path === href ? "page" : undefined} className={LINK}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="mt-6 border-line border-t pt-4 max-md:hidden">
        <p title={email} className="truncate px-3 text-ink-faint text-xs">
          {email}
        </p>
        <Button kind="ghost" onClick={leave} className="mt-1 w-full justify-start px-3!">
          Sign out
        </Button>
        {failed ? (
          <p role="alert" className="px-3 text-danger text-xs">
            No answer came. Try again.
          </p>
        ) : null}
      </div>
    </div>
  );
}
