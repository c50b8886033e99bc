import { Arrow, Box, Drawing } from "./shapes";

/** The states of a key and what leads from one to the next. */
export function KeyLife() {
  return (
    <Drawing
      height={190}
      says="A key is scheduled until it becomes valid, then active. Rotating it creates a successor and gives the old key a grace period, after which it is expired. An active key also expires at its own expiry. A scheduled, active or rotated key can be revoked at any time."
    >
      <Box at={[70, 40]} width={104} lines={["scheduled"]} />
      <Arrow
        through={[
          [122, 40],
          [202, 40],
        ]}
        label="valid from"
        labelAt={[162, 26]}
      />
      <Box at={[254, 40]} width={104} lines={["active"]} tone="positive" />
      <Arrow
        through={[
          [306, 40],
          [386, 40],
        ]}
        label="rotate"
        labelAt={[346, 26]}
      />
      <Box at={[438, 40]} width={104} lines={["in grace"]} tone="warning" />
      <Arrow
        through={[
          [490, 40],
          [558, 40],
        ]}
        label="grace ends"
        labelAt={[524, 22]}
      />
      <Box at={[610, 40]} width={104} lines={["expired"]} tone="neutral" />
      <Arrow
        through={[
          [270, 56],
          [270, 96],
          [610, 96],
          [610, 58],
        ]}
        label="expiry reached"
        labelAt={[524, 84]}
      />
      <Arrow
        through={[
          [70, 56],
          [70, 156],
          [200, 156],
        ]}
      />
      <Arrow
        through={[
          [238, 56],
          [238, 140],
        ]}
        label="revoke"
        labelAt={[210, 116]}
        tone="neutral"
      />
      <Arrow
        through={[
          [438, 56],
          [438, 156],
          [308, 156],
        ]}
      />
      <Box at={[254, 156]} width={104} lines={["revoked"]} tone="neutral" />
    </Drawing>
  );
}
