import { Drawing, Label } from "./shapes";

const LEFT = 134;
const HOUR = 22;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
/** The trading day begins at this hour in New York, and at this one of UTC in winter. */
const OPENS = { newYork: 17, utc: 22 };
const H4_HOURS = 4;

const xOf = (hour: number) => LEFT + hour * HOUR;
const hourText = (hour: number) => `${String(hour % 24).padStart(2, "0")}:00`;

function Bars({ y, hours, text }: { y: number; hours: number; text: string }) {
  return (
    <>
      <Label at={[LEFT - 12, y + 13]} anchor="end" mono>
        {text}
      </Label>
      {HOURS.filter((hour) => hour % hours === 0).map((hour) => (
        <rect
          key={hour}
          x={xOf(hour) + 1}
          y={y}
          width={hours * HOUR - 2}
          height={26}
          rx={4}
          fill="var(--surface)"
          stroke="var(--accent)"
        />
      ))}
    </>
  );
}

/** One trading day: a D1, its six H4 and its hours, by the clocks of New York and of UTC. */
export function Alignment() {
  return (
    <Drawing
      height={196}
      says="A trading day runs from 17:00 to 17:00 in New York, in winter 22:00 to 22:00 UTC. One D1 spans it, six H4 of four hours divide it from its beginning, and H1 open at full hours."
    >
      {(["newYork", "utc"] as const).map((clock, row) => (
        <g key={clock}>
          <Label at={[LEFT - 32, 16 + row * 20]} anchor="end" faint>
            {clock === "utc" ? "UTC (winter)" : "New York"}
          </Label>
          {[0, 4, 8, 12, 16, 20, 24].map((hour) => (
            <Label key={hour} at={[xOf(hour) - (hour === 24 ? 14 : 0), 16 + row * 20]} faint={row === 1} mono>
              {hourText(OPENS[clock] + hour)}
            </Label>
          ))}
        </g>
      ))}
      {HOURS.filter((hour) => hour % H4_HOURS === 0).map((hour) => (
        <line key={hour} x1={xOf(hour)} x2={xOf(hour)} y1={50} y2={180} stroke="var(--line)" strokeDasharray="2 3" />
      ))}
      <Bars y={58} hours={24} text="D1" />
      <Label at={[xOf(12), 71]}>Monday: opens on Sunday evening</Label>
      <Bars y={102} hours={H4_HOURS} text="H4" />
      <Bars y={146} hours={1} text="H1" />
    </Drawing>
  );
}
