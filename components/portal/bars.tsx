/** A bar: its height, and the part of it that is drawn in the colour of errors. */
interface Bar {
  readonly id: string;
  readonly value: number;
  readonly errors?: number;
  /** Shown when the pointer rests on it. */
  readonly title: string;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** What the drawing says, for those who do not see it. */
  readonly label: string;
  readonly className: string;
}

/** The drawing has as many units of height, and one of width for each bar. */
const HEIGHT = 100;
const GAP = 0.2;
/** So that a few among many are still seen. */
const LEAST = 4;

const heightOf = (value: number, most: number) => (value === 0 ? 0 : Math.max(LEAST, (value / most) * HEIGHT));

/** A small bar chart without axes; its tallest bar is as high as the drawing. */
export function Bars({ bars, label, className }: BarsProps) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" className={className}>
      <line x1="0" x2={bars.length} y1={HEIGHT} y2={HEIGHT} className="stroke-line" vectorEffect="non-scaling-stroke" />
      {bars.map(({ id, value, errors = 0, title }, index) => {
        const [whole, part] = [heightOf(value, most), heightOf(errors, most)];
        return (
          <g key={id}>
            <title>{title}</title>
            {/* The whole column, so that it is easy to point at. */}
            <rect x={index} y="0" width="1" height={HEIGHT} fill="transparent" />
            <rect x={index + GAP / 2} y={HEIGHT - whole} width={1 - GAP} height={whole} className="fill-accent" />
            <rect x={index + GAP / 2} y={HEIGHT - part} width={1 - GAP} height={part} className="fill-danger" />
          </g>
        );
      })}
    </svg>
  );
}
