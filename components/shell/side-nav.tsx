"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useState } from "react";
import { signOut } from "../portal/sign-in";
import { Button } from "../ui/button";
import { DASHBOARD_PAGES } from "./pages";

const LINK =
  "block whitespace-nowrap rounded-md px-3 py-1.5 text-ink-soft text-sm leading-6 hover:text-ink aria-[current=page]:bg-line/70 aria-[current=page]:font-medium aria-[current=page]:text-ink";

/** The dashboard's navigation: a column beside the page, a bar above it where there is no room. */
export function SideNav({ email }: { email: string }) {
  const path = usePathname();
  const [failed, setFailed] = useState(false);
  const leave = async () => {
    const result = await signOut();
    setFailed("failure" in result);
  };
  return (
    <div className="min-w-0 md:sticky md:top-8 md:w-48 md:shrink-0 md:self-start">
      <nav
        aria-label="Dashboard"
        className="-mx-4 overflow-x-auto px-4 max-md:border-line max-md:border-b max-md:pb-2 md:mx-0 md:px-0"
      >
        <ul className="flex gap-1 md:flex-col">
          {DASHBOARD_PAGES.map(({ href, label }) => (
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
