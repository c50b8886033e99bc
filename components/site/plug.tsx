"use client";

import { useEffect, useRef, useState } from "react";
import { SECOND_MS } from "#lib/units";
import { Button } from "../ui/button";
import { type Outcome, openPlugStream, type PlugStream, type Point } from "./plug-stream";

/** The stretch of time that the chart shows. */
const SHOWN_MS = 40 * SECOND_MS;
/** How often the chart moves. */
const STEP_MS = 250;
const WIDTH = 1_000;
const HEIGHT = 200;
const MARGIN = 24;

type Phase = "connecting" | "open" | "out" | "returning";

interface Drawing {
  readonly points: readonly Point[];
  readonly nowMs: number;
  /** When the plug was pulled, and when it was in again; open-ended while it is out. */
  readonly gap: { readonly fromMs: number; readonly toMs: number | undefined } | undefined;
}

/** Bids as steps over time, with the time without a connection behind them. What came in later is drawn in the accent. */
function Drawn({ points, nowMs, gap }: Drawing) {
  const shown = points.filter(({ atMs }) => atMs > nowMs - 2 * SHOWN_MS);
  const bids = shown.map(({ bid }) => bid);
  const [low, high] = [Math.min(...bids), Math.max(...bids)];
  const xOf = (atMs: number) => WIDTH - ((nowMs - atMs) / SHOWN_MS) * WIDTH;
  const yOf = (bid: number) => MARGIN + ((high - bid) / (high - low || 1)) * (HEIGHT - 2 * MARGIN);
  const steps = (wanted: (point: Point) => boolean) =>
    shown
      .map((point, index) => {
        const next = shown[index + 1];
        const isHole = gap?.toMs === undefined && gap !== undefined && (next === undefined || next.atMs > gap.fromMs);
        const end = next?.atMs ?? (isHole ? gap.fromMs : nowMs);
        const rise = next === undefined ? "" : `V${yOf(next.bid)}`;
        return wanted(point) ? `M${xOf(point.atMs)} ${yOf(point.bid)}H${xOf(Math.max(end, point.atMs))}${rise}` : "";
      })
      .join("");
  const gapFrom = gap === undefined ? 0 : Math.max(0, xOf(gap.fromMs));
  const gapTo = gap === undefined ? 0 : Math.max(0, gap.toMs === undefined ? WIDTH : xOf(gap.toMs));
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" className="h-full w-full">
      <defs>
        <pattern id="plug-gap" width="12" height="12" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M0 0V12" className="stroke-warning" strokeWidth="3" strokeOpacity="0.45" />
        </pattern>
      </defs>
      {gapTo > gapFrom ? <rect x={gapFrom} width={gapTo - gapFrom} y="0" height={HEIGHT} fill="url(#plug-gap)" /> : null}
      <path
        d={steps(({ missed }) => !missed)}
        fill="none"
        className="stroke-ink-soft stroke-2"
        vectorEffect="non-scaling-stroke"
      />
      <path
        d={steps(({ missed }) => missed)}
        fill="none"
        className="stroke-accent stroke-[3]"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

const records = (count: number) => (count === 1 ? "1 record" : `${count} records`);

function outcomeText({ sent, lost, awayMs }: Outcome): string {
  const away = `Resumed after ${(awayMs / SECOND_MS).toFixed(1)} s`;
  if (lost === null) return `${away}. It was too long to replay: the service said so, and sent the newest record.`;
  return `${away}, ${lost} of ${records(sent)} lost.`;
}

export interface ProofProps {
  /** The chart shows the first. */
  readonly tickers: readonly string[];
}

/** A stream whose connection the reader can end, and what its client makes of it. */
export function Plug({ tickers }: ProofProps) {
  const [phase, setPhase] = useState<Phase>("connecting");
  const [drawing, setDrawing] = useState<Drawing>({ points: [], nowMs: 0, gap: undefined });
  const [outcome, setOutcome] = useState<Outcome>();
  const [refusal, setRefusal] = useState<string>();
  const stream = useRef<PlugStream>(undefined);
  const gap = useRef<Drawing["gap"]>(undefined);

  useEffect(() => {
    let points: readonly Point[] = [];
    // The chart runs by the clock of the service, which stamps the records; the newest of them says best what it is.
    let aheadMs: number | undefined;
    const opened = openPlugStream(tickers, {
      onPoint(point) {
        aheadMs = Math.max(aheadMs ?? Number.NEGATIVE_INFINITY, point.atMs - Date.now());
        points = [...points, point].filter(({ atMs }) => atMs > point.atMs - 2 * SHOWN_MS).sort((a, b) => a.atMs - b.atMs);
      },
      onConnected(connected) {
        if (connected) setRefusal(undefined);
        if (connected && gap.current !== undefined) gap.current = { ...gap.current, toMs: Date.now() };
        setPhase((before) => (connected ? "open" : before === "out" ? "out" : "connecting"));
      },
      onOutcome: setOutcome,
      onRefused: setRefusal,
    });
    stream.current = opened;
    const timer = window.setInterval(() => {
      const ahead = aheadMs ?? 0;
      const at = gap.current;
      setDrawing({
        points,
        nowMs: Date.now() + ahead,
        gap: at && { fromMs: at.fromMs + ahead, toMs: at.toMs === undefined ? undefined : at.toMs + ahead },
      });
    }, STEP_MS);
    return () => {
      window.clearInterval(timer);
      opened.close();
    };
  }, [tickers]);

  function pull(): void {
    gap.current = { fromMs: Date.now(), toMs: undefined };
    setOutcome(undefined);
    setPhase("out");
    stream.current?.pull();
  }

  function plugIn(): void {
    setPhase("returning");
    stream.current?.plugIn();
  }

  const isOut = phase === "out" || phase === "returning";
  const words =
    refusal ??
    (phase === "connecting"
      ? "Connecting."
      : isOut
        ? "No connection. The market goes on without you."
        : outcome === undefined
          ? "Streaming. Now pull the plug: this connection is really closed."
          : outcomeText(outcome));
  return (
    <div>
      <div className="relative h-40 overflow-hidden rounded-lg border border-line bg-sunken sm:h-48">
        <p className="absolute top-2 left-3 text-ink-faint text-xs leading-5">
          <span className="font-mono">{tickers[0]}</span> bid, last {SHOWN_MS / SECOND_MS} s
        </p>
        <Drawn {...drawing} />
      </div>
      <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        {isOut ? (
          <Button kind="primary" busy={phase === "returning"} onClick={plugIn}>
            Plug it back in
          </Button>
        ) : (
          <Button kind="primary" disabled={phase !== "open"} onClick={pull}>
            Pull the plug
          </Button>
        )}
        <p
          role="status"
          className={`text-sm leading-6 ${isOut ? "text-warning" : outcome === undefined ? "text-ink-soft" : "font-medium text-ink"}`}
        >
          {words}
        </p>
      </div>
    </div>
  );
}
