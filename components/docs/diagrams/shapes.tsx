import type { ReactNode } from "react";

type Point = readonly [x: number, y: number];

/** Colours of the theme that mean something in a diagram. */
type Tone = "plain" | "accent" | "positive" | "neutral" | "warning";

const STROKES: Readonly<Record<Tone, string>> = {
  plain: "var(--edge)",
  accent: "var(--accent)",
  positive: "var(--positive)",
  neutral: "var(--edge)",
  warning: "var(--warning)",
};
const INKS: Readonly<Record<Tone, string>> = { ...STROKES, plain: "var(--ink)", neutral: "var(--ink-soft)" };
const CORNER = 6;
const LINE_HEIGHT = 17;
/** Middle of a line of text below its upper edge. */
const BASELINE = 4.5;
const HEAD = 6;

interface LabelProps {
  readonly at: Point;
  readonly children: string;
  readonly anchor?: "start" | "middle" | "end";
  readonly faint?: boolean;
  readonly mono?: boolean;
  readonly fill?: string;
}

/** A line of text, centred on its point by default. */
export function Label({ at: [x, y], children, anchor = "middle", faint = false, mono = false, fill }: LabelProps) {
  return (
    <text
      x={x}
      y={y + BASELINE}
      textAnchor={anchor}
      fill={fill ?? (faint ? "var(--ink-faint)" : "var(--ink)")}
      className={mono ? "font-mono" : ""}
    >
      {children}
    </text>
  );
}

interface BoxProps {
  /** Its middle. */
  readonly at: Point;
  readonly width: number;
  readonly lines: readonly string[];
  readonly tone?: Tone;
  readonly mono?: boolean;
}

/** A box with centred lines. */
export function Box({ at: [x, y], width, lines, tone = "plain", mono = false }: BoxProps) {
  const height = lines.length * LINE_HEIGHT + 13;
  const top = y - ((lines.length - 1) * LINE_HEIGHT) / 2;
  return (
    <>
      <rect
        x={x - width / 2}
        y={y - height / 2}
        width={width}
        height={height}
        rx={CORNER}
        fill="var(--surface)"
        stroke={STROKES[tone]}
        strokeWidth={tone === "plain" ? 1 : 1.5}
      />
      {lines.map((line, index) => (
        <Label key={line} at={[x, top + index * LINE_HEIGHT]} mono={mono} fill={INKS[tone]}>
          {line}
        </Label>
      ))}
    </>
  );
}

interface ArrowProps {
  /** The points it runs through. */
  readonly through: readonly [Point, ...Point[]];
  readonly label?: string;
  /** Middle of the label. */
  readonly labelAt?: Point;
  readonly tone?: Tone;
  readonly dashed?: boolean;
}

/** A line with a head at its last point. */
export function Arrow({ through, label, labelAt, tone = "neutral", dashed = false }: ArrowProps) {
  const [x, y] = through.at(-1) ?? [0, 0];
  const [fromX, fromY] = through.at(-2) ?? [x, y];
  const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  return (
    <>
      <polyline
        points={through.map((point) => point.join(",")).join(" ")}
        fill="none"
        stroke={STROKES[tone]}
        strokeWidth="1.25"
        strokeDasharray={dashed ? "4 3" : undefined}
      />
      <path
        d={`M0 0 L${-HEAD} ${-HEAD / 2} L${-HEAD} ${HEAD / 2} Z`}
        transform={`translate(${x} ${y}) rotate(${angle})`}
        fill={STROKES[tone]}
      />
      {label === undefined || labelAt === undefined ? null : (
        <Label at={labelAt} faint>
          {label}
        </Label>
      )}
    </>
  );
}

interface DrawingProps {
  readonly height: number;
  /** All it says, for those who do not see it. */
  readonly says: string;
  readonly children: ReactNode;
}

/** Width of every diagram in its own units, which are pixels at the width of a text column. */
const DIAGRAM_WIDTH = 680;

/** A drawing in the colours of the theme. */
export function Drawing({ height, says, children }: DrawingProps) {
  return (
    <svg viewBox={`0 0 ${DIAGRAM_WIDTH} ${height}`} role="img" aria-label={says} fontSize="13">
      {children}
    </svg>
  );
}
