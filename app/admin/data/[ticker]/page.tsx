import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { requireOperator } from "#app/admin/operator";
import { TickerView } from "#components/admin/data/ticker-view";
import { Ticker } from "#lib/contract/primitives";

interface DataTickerProps {
  readonly params: Promise<{ readonly ticker: string }>;
}

export async function generateMetadata({ params }: DataTickerProps): Promise<Metadata> {
  return { title: `Data of ${(await params).ticker}` };
}

/** The stored history of one instrument: its coverage, gaps, suspicious places and sources. */
export default async function DataTickerPage({ params }: DataTickerProps) {
  const { ticker } = await params;
  await requireOperator(`/admin/data/${encodeURIComponent(ticker)}`);
  if (!Ticker.safeParse(ticker).success) notFound();
  return <TickerView ticker={ticker} />;
}
