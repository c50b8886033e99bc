import { FLAGS, METALS } from "./flags";

const DISC = "size-5 shrink-0 rounded-full ring-1 ring-line";

/** The disc of a currency or metal; one without a flag shows the start of its code. */
function Disc({ code, className }: { code: string; className: string }) {
  const shapes = FLAGS[code];
  const [ground, symbol] = METALS[code] ?? ["var(--sunken)", code.slice(0, 2)];
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" className={`${DISC} ${className}`}>
      {shapes?.map(([path, colour, width]) =>
        width === undefined ? (
          <path key={path + colour} d={path} fill={colour} />
        ) : (
          <path key={path + colour} d={path} stroke={colour} strokeWidth={width} strokeLinecap="round" fill="none" />
        ),
      ) ?? (
        <>
          <path d="M0 0h24v24H0z" fill={ground} />
          <text
            x="12"
            y="16"
            textAnchor="middle"
            fontSize="11"
            fontWeight="600"
            fill={code in METALS ? "#1f2328" : "var(--ink-soft)"}
          >
            {symbol}
          </text>
        </>
      )}
    </svg>
  );
}

/** The marks of an instrument: the flag or symbol of its base currency in front of that of its quote currency. */
export function InstrumentMark({ base, quote }: { base: string; quote: string }) {
  return (
    <span aria-hidden="true" className="flex shrink-0">
      <Disc code={base} className="relative z-10" />
      <Disc code={quote} className="-ml-1.5" />
    </span>
  );
}
