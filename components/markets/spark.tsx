import { SPARK_TOP } from "#lib/contract/markets";

const WIDTH = 96;
const HEIGHT = 28;
/** Room for half the stroke at the top and the bottom. */
const INSET = 2;

/** A line of closes, coloured by whether it ends higher or lower than it began. Decorative: the change is a number beside it. */
export function Spark({ values }: { values: readonly number[] }) {
  if (values.length < 2) return <span aria-hidden="true" className="block h-7 w-24" />;
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
      className={`h-7 w-24 ${rising ? "text-positive" : "text-danger"}`}
      fill="none"
    >
      <path d={`M${points.join("L")}`} stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" strokeLinecap="round" />
    </svg>
  );
}
