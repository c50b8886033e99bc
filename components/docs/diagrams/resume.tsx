import { Arrow, Box, Drawing, Label } from "./shapes";

const FIRST_SEQ = 811;
const RECORDS = [0, 1, 2, 3, 4, 5, 6, 7];
/** Records up to this one arrived before the connection was lost; those up to the other one are replayed. */
const LAST_BEFORE = 2;
const LAST_MISSED = 5;
const STEP = 80;

const xOf = (record: number) => 60 + record * STEP;
const toneOf = (record: number) => (record <= LAST_BEFORE ? "neutral" : record <= LAST_MISSED ? "warning" : "positive");

/** A connection that is lost, and the records that a resume replays. */
export function Resume() {
  return (
    <Drawing
      height={172}
      says="Records 811 to 813 arrive, then the connection is lost. The client subscribes again with resume, epoch and seq 813. The service replays 814 to 816, which were missed, and continues with 817 live."
    >
      <Label at={[xOf(1), 18]} faint>
        first connection
      </Label>
      <Label at={[xOf(4), 18]} faint>
        missed, then replayed
      </Label>
      <Label at={[xOf(6.5), 18]} faint>
        live again
      </Label>
      {RECORDS.map((record) => (
        <Box key={record} at={[xOf(record), 56]} width={64} lines={[String(FIRST_SEQ + record)]} tone={toneOf(record)} mono />
      ))}
      <line x1={xOf(2.5)} x2={xOf(2.5)} y1={30} y2={112} stroke="var(--danger)" strokeDasharray="4 3" strokeWidth="1.25" />
      <Label at={[xOf(2.5), 124]} faint>
        connection lost
      </Label>
      <Arrow
        through={[
          [xOf(5.5), 118],
          [xOf(5.5), 84],
        ]}
        tone="accent"
      />
      <Label at={[xOf(5.5), 132]}>subscribe with resume</Label>
      <Label at={[xOf(5.5), 152]} mono faint>
        {'{ "epoch": "3f9c2a71", "seq": 813 }'}
      </Label>
    </Drawing>
  );
}
