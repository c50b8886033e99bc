"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { buttonClass } from "../ui/button";
import type { ProofProps } from "./plug";

const HEIGHT = "h-53 sm:h-61";
const Waiting = () => <div className={`${HEIGHT} animate-pulse rounded-lg bg-sunken motion-reduce:animate-none`} />;
const Plug = dynamic(() => import("./plug").then((module) => module.Plug), { ssr: false, loading: Waiting });

/** A proof to try: a stream that loses its connection, and resumes. It connects when the reader asks for it. */
export function Proof(props: ProofProps) {
  const [started, setStarted] = useState(false);
  return (
    <section
      aria-labelledby="proof"
      className="mt-12 grid items-start gap-x-12 gap-y-6 sm:mt-14 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.6fr)]"
    >
      <div>
        <h2 id="proof" className="text-balance font-semibold text-2xl tracking-tight">
          Pull the plug on the stream
        </h2>
        <p className="mt-3 text-pretty text-ink-soft leading-7">
          This demo really closes its WebSocket: a gap opens on the chart while the market goes on. Plug it back in, and the
          client names the last record it received, gets every record it missed, and counts them.
        </p>
        <p className="mt-3 text-sm">
          <a href="/docs/streaming#resume-after-a-reconnect" className="text-accent underline">
            How resume works
          </a>
        </p>
      </div>
      {started ? (
        <Plug {...props} />
      ) : (
        <div
          className={`${HEIGHT} flex flex-col items-center justify-center gap-3 rounded-lg border border-line border-dashed px-6 text-center`}
        >
          <button type="button" onClick={() => setStarted(true)} className={buttonClass("primary")}>
            Start a stream of {props.tickers.length} tickers
          </button>
          <p className="text-ink-faint text-sm">It opens a connection of its own, with synthetic quotes.</p>
        </div>
      )}
    </section>
  );
}
