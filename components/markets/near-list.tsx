"use client";

import Link from "next/link";
import { InstrumentMark } from "../ui/instrument-mark";
import { nearest } from "./near";
import { useInstruments } from "./use-market-hits";

interface NearListProps {
  /** One that has no page. */
  readonly ticker: string;
  /** The page of an instrument. */
  readonly pathOf: (ticker: string) => string;
}

/** The instruments that are near to a ticker, with their pages; nothing until they are known. */
export function NearList({ ticker, pathOf }: NearListProps) {
  const { data: instruments } = useInstruments();
  const near = nearest(ticker, instruments ?? []);
  if (near.length === 0) return null;
  return (
    <>
      <h2 className="mt-8 mb-3 font-medium">Similar instruments</h2>
      <ul className="overflow-hidden rounded-xl border border-line bg-surface">
        {near.map((one) => (
          <li key={one.ticker} className="border-line border-t first:border-t-0">
            <Link
              prefetch={false}
              href={pathOf(one.ticker)}
              className="flex min-h-13 items-center gap-3 px-4 py-2 hover:bg-sunken/60"
            >
              <InstrumentMark base={one.base_currency} quote={one.quote_currency} />
              <span className="font-medium font-mono text-sm">{one.ticker}</span>
              <span className="text-ink-soft text-sm">{one.name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
