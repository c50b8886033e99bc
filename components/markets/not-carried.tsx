"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { marketPath } from "#lib/contract/markets";
import { InstrumentMark } from "../ui/instrument-mark";
import { nearest } from "./near";
import { useInstruments } from "./use-market-hits";

/** What the page of a ticker says that is not carried: its name, and the instruments that are near. */
export function NotCarried() {
  const { data: instruments } = useInstruments();
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
      <h2 className="mt-8 mb-3 font-medium">Similar instruments</h2>
      <ul className="overflow-hidden rounded-xl border border-line bg-surface">
        {nearest(ticker, instruments ?? []).map((one) => (
          <li key={one.ticker} className="border-line border-t first:border-t-0">
            <Link
              prefetch={false}
              href={marketPath(undefined, one.ticker)}
              className="flex min-h-13 items-center gap-3 px-4 py-2 hover:bg-sunken/60"
            >
              <InstrumentMark base={one.base_currency} quote={one.quote_currency} />
              <span className="font-medium font-mono text-sm">{one.ticker}</span>
              <span className="text-ink-soft text-sm">{one.name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
