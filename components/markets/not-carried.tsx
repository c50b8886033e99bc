"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { marketPath } from "#lib/contract/markets";
import { NearList } from "./near-list";

/** What the page of a ticker says that is not carried: its name, and the instruments that are near. */
export function NotCarried() {
  const ticker = usePathname().split("/")[2] ?? "";
  return (
    <section className="max-w-2xl">
      <p className="font-mono text-ink-faint text-sm">404</p>
      <h1 className="mt-2 font-semibold text-3xl tracking-tight">{ticker} is not carried</h1>
      <p className="mt-4 text-ink-soft leading-7">
        This service has no instrument with that ticker.{" "}
        <Link prefetch={false} href={marketPath(undefined)} className="text-accent underline">
          See all markets
        </Link>
        .
      </p>
      <NearList ticker={ticker} pathOf={(near) => marketPath(undefined, near)} />
    </section>
  );
}
