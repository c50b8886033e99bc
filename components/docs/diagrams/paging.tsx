import { Arrow, Box, Drawing, Label } from "./shapes";

const PAGES = [
  { x: 120, from: "from=09:00", rows: "rows 1–500", next: "next_from=17:20" },
  { x: 330, from: "from=17:20", rows: "rows 501–1000", next: "next_from=01:40" },
  { x: 540, from: "from=01:40", rows: "rows 1001–1240", next: "next_from=null" },
] as const;
const WIDTH = 180;

/** A range in three requests, each beginning where the one before ended. */
export function Paging() {
  return (
    <Drawing
      height={140}
      says="A range with more rows than the limit is read in several requests. Each response names the open time of the next row in next_from, which is the from of the next request. The last response has null."
    >
      <line x1={30} x2={630} y1={22} y2={22} stroke="var(--edge)" strokeWidth="1.25" />
      {[30, 240, 450, 630].map((x) => (
        <line key={x} x1={x} x2={x} y1={15} y2={29} stroke="var(--edge)" strokeWidth="1.25" />
      ))}
      <Label at={[135, 10]} faint>
        the whole range, limit=500
      </Label>
      {PAGES.map(({ x, from, rows, next }, index) => (
        <g key={from}>
          <Box at={[x, 78]} width={WIDTH} lines={[from, rows]} mono tone={index === 2 ? "positive" : "accent"} />
          <Label at={[x, 122]} mono faint={index < 2}>
            {next}
          </Label>
          {index === 2 ? null : (
            <Arrow
              through={[
                [x + 62, 122],
                [x + 105, 122],
                [x + 105, 78],
                [x + 118, 78],
              ]}
            />
          )}
        </g>
      ))}
    </Drawing>
  );
}
