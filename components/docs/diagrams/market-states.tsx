import { Arrow, Box, Drawing } from "./shapes";

const ASK = 150;
const ANSWER = 186;
const [LEFT, MIDDLE, RIGHT] = [90, 310, 575];
const SECOND = 140;

type Tone = "positive" | "neutral" | "warning";

/** The questions in order, top to bottom; `next` is the answer that leads to the next one. */
const QUESTIONS = [
  { y: 40, lines: ["offered by", "the provider?"], half: 24, next: "yes" },
  { y: 120, lines: ["calendar covers", "this time?"], half: 24, next: "yes" },
  { y: 190, lines: ["in a session?"], half: 16, next: "yes" },
  { y: 268, lines: ["a quote in", "this session?"], half: 24, next: "no" },
  { y: 370, lines: ["grace period", "over?"], half: 24, next: "no" },
] as const;

const STATES: readonly (readonly [y: number, state: string, tone: Tone])[] = [
  [40, "not_offered", "neutral"],
  [120, "unknown", "neutral"],
  [190, "closed", "neutral"],
  [240, "open", "positive"],
  [290, "open_data_stale", "warning"],
  [344, "late_open_data_stale", "warning"],
  [392, "open_data_missing", "warning"],
];
const LAST_Y = 440;

/** A second question, and the states its answers lead to. */
function Second({ y, lines, yes, no }: { y: number; lines: readonly string[]; yes: number; no: number }) {
  const [start, end] = [MIDDLE + SECOND / 2, RIGHT - ANSWER / 2];
  return (
    <>
      <Arrow
        through={[
          [LEFT + ASK / 2, y],
          [MIDDLE - SECOND / 2, y],
        ]}
        label="yes"
        labelAt={[203, y - 12]}
      />
      <Box at={[MIDDLE, y]} width={SECOND} lines={lines} />
      {(
        [
          [yes, "yes", y - 7, yes - 3],
          [no, "no", y + 7, no + 7],
        ] as const
      ).map(([to, label, from, labelY]) => (
        <Arrow
          key={label}
          through={[
            [start, from],
            [end, to],
          ]}
          label={label}
          labelAt={[430, labelY]}
        />
      ))}
    </>
  );
}

/** How the displayed state follows from the calendar and the data. */
export function MarketStates() {
  return (
    <Drawing
      height={460}
      says="An instrument that the provider does not offer is not_offered. Without a calendar the state is unknown. Outside of a session it is closed. In a session with a quote it is open while the newest quote is current, and open_data_stale when it is older than the threshold. In a session without a quote it is open during the grace period; after it, late_open_data_stale if there was ever a quote, and open_data_missing if there was none."
    >
      {QUESTIONS.map(({ y, lines, half, next }, index) => {
        const below = QUESTIONS[index + 1];
        const end = below === undefined ? LAST_Y - 16 : below.y - below.half;
        const down = { label: next, labelAt: [LEFT + 18, (y + half + end) / 2] as const };
        return (
          <g key={y}>
            <Box at={[LEFT, y]} width={ASK} lines={lines} />
            <Arrow
              {...down}
              through={[
                [LEFT, y + half],
                [LEFT, end],
              ]}
            />
          </g>
        );
      })}
      {[40, 120, 190].map((y) => (
        <Arrow
          key={y}
          through={[
            [LEFT + ASK / 2, y],
            [RIGHT - ANSWER / 2, y],
          ]}
          label="no"
          labelAt={[MIDDLE, y - 12]}
        />
      ))}
      <Second y={268} lines={["is the newest", "one current?"]} yes={240} no={290} />
      <Second y={370} lines={["was there", "ever a quote?"]} yes={344} no={392} />
      {STATES.map(([y, state, tone]) => (
        <Box key={state} at={[RIGHT, y]} width={ANSWER} lines={[state]} tone={tone} mono />
      ))}
      <Box at={[LEFT, LAST_Y]} width={ASK} lines={["open"]} tone="positive" mono />
    </Drawing>
  );
}
