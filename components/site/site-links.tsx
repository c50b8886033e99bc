"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { isCurrentPage, type PageLink } from "../shell/pages";

interface SiteLinksProps {
  readonly pages: readonly PageLink[];
  readonly className: string;
  /** Called when a link is followed. */
  readonly onGo?: () => void;
}

/** Links of the header as list items; the one of the current page, or of the section it is in, is marked. */
export function SiteLinks({ pages, className, onGo }: SiteLinksProps) {
  const path = usePathname();
  return pages.map(({ href, label }) => (
    <li key={href}>
      <Link
        prefetch={false}
        href={href}
        {...(onGo !== undefined && { onClick: onGo })}
        aria-current={isCurrentPage(href, path, pages) ? "page" : undefined}
        className={className}
      >
        {label}
      </Link>
    </li>
  ));
}
