import { SPARK_TOP } from "#lib/contract/markets";

const WIDTH = 96;
const HEIGHT = 28;
/** Room for half the stroke at the top and the bottom. */
const INSET = 2;

/** The line of a trading day, from the previous close, coloured by whether it ends higher or lower than it began. Decorative: the change is a number beside it. */
export function Spark({ values }: { values: readonly number[] }) {
  if (values.length < 2) return <span aria-hidden="true" className="block h-5 w-14 sm:h-7 sm:w-24" />;
  const step = WIDTH / (values.length - 1);
  const points = values.map((value, index) => {
    const y = HEIGHT - INSET - ((HEIGHT - 2 * INSET) * value) / SPARK_TOP;
    return `${(index * step).toFixed(0)} ${y.toFixed(0)}`;
  });
  const rising = (values.at(-1) ?? 0) >= (values[0] ?? 0);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
      preserveAspectRatio="none"
      className={`h-5 w-14 sm:h-7 sm:w-24 ${rising ? "text-positive" : "text-danger"}`}
      fill="none"
    >
      <path
        d={`M${points.join("L")}`}
        stroke="currentColor"
        vectorEffect="non-scaling-stroke"
        strokeWidth="1.5"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}
