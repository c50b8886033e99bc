"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";

const PAGES = [
  { href: "/admin", label: "Accounts" },
  { href: "/admin/plans", label: "Plans" },
  { href: "/admin/calendars", label: "Calendars" },
  { href: "/admin/feeds", label: "Feeds" },
  { href: "/admin/audit", label: "Audit log" },
] as const;
const LINK =
  "block whitespace-nowrap rounded-md px-3 py-1.5 text-ink-soft text-sm leading-6 hover:text-ink aria-[current=page]:bg-line/70 aria-[current=page]:font-medium aria-[current=page]:text-ink";

/** The operators' navigation: a column beside the page, a bar above it where there is no room. */
export function AdminNav() {
  const path = usePathname();
  return (
    <div className="min-w-0 md:sticky md:top-8 md:w-48 md:shrink-0 md:self-start">
      <nav
        aria-label="Operators"
        className="-mx-4 overflow-x-auto px-4 max-md:border-line max-md:border-b max-md:pb-2 md:mx-0 md:px-0"
      >
        <ul className="flex gap-1 md:flex-col">
          {PAGES.map(({ href, label }) => (
            <li key={href}>
              <Link href={href} aria-current={path === href ? "page" : undefined} className={LINK}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </div>
  );
}
