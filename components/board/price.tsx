"use client";

import { type ReactNode, useEffect, useRef } from "react";
import { changeText, priceText } from "../portal/numbers";

const TINT_MS = 400;
const UNKNOWN = "–";

/** A number that is briefly tinted when it goes up or down, unless the reader prefers reduced motion. */
function Tinted({ value, children }: { value: number | undefined; children: ReactNode }) {
  const text = useRef<HTMLSpanElement>(null);
  const before = useRef(value);
  useEffect(() => {
    const last = before.current;
    before.current = value;
    if (value === undefined || last === undefined || value === last) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const colour = value > last ? "--positive" : "--danger";
    const ground = `color-mix(in oklab, var(${colour}) 24%, transparent)`;
    text.current?.animate([{ backgroundColor: ground }, { backgroundColor: "transparent" }], TINT_MS);
  }, [value]);
  return (
    <span ref={text} data-price className="-mx-1 rounded px-1 py-0.5 font-mono tabular-nums">
      {children}
    </span>
  );
}

/** A price with its digits, tinted when it changes; an en dash for none. */
export function Price({ value, digits }: { value: number | null | undefined; digits: number }) {
  return <Tinted value={value ?? undefined}>{value == null ? UNKNOWN : priceText(value, digits)}</Tinted>;
}

/** The change of a trading day in percent. */
export function Change({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <span className="text-ink-faint">{UNKNOWN}</span>;
  const { text, tone } = changeText(value);
  return <span className={`whitespace-nowrap font-mono tabular-nums ${tone}`}>{text}</span>;
}
