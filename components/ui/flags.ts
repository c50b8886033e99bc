/** A shape of a flag: its path in a square of 24, its colour, and the width of its stroke when it is not filled. */
type Shape = readonly [path: string, colour: string, strokeWidth?: number];

const WHITE = "#fff";
const RED = "#d22630";
const BLUE = "#012169";
const SQUARE = "M0 0h24v24H0z";
/** A round dot of a stroke with round ends. */
const dots = (places: readonly string[]) => places.map((place) => `M${place}h0`).join("");
const UNION_CORNER: readonly Shape[] = [
  ["M0 0l12 12M12 0L0 12", WHITE, 2.2],
  ["M6 0v12M0 6h12", WHITE, 3.8],
  ["M6 0v12M0 6h12", RED, 2],
];
const nordic = (ground: string, ...crosses: readonly (readonly [colour: string, width: number])[]): readonly Shape[] => [
  [SQUARE, ground],
  ...crosses.map(([colour, width]): Shape => ["M9 0v24M0 12h24", colour, width]),
];

/** Flags of currencies and discs of metals, simplified so that they are clear at 20 pixels. */
export const FLAGS: Readonly<Record<string, readonly Shape[]>> = {
  AUD: [[SQUARE, BLUE], ...UNION_CORNER, [dots(["6 18", "18 5", "15 11", "21 10", "18 19"]), WHITE, 2.6]],
  CAD: [
    [SQUARE, WHITE],
    ["M0 0h6v24H0zM18 0h6v24h-6z", RED],
    ["M12 5l1.5 2.8 2-.7-.5 3 2.4.9-3.3 2.9.3 1.6-2-.3V19h-.8v-3.8l-2 .3.3-1.6-3.3-2.9 2.4-.9-.5-3 2 .7z", RED],
  ],
  CHF: [
    [SQUARE, RED],
    ["M12 6v12M6 12h12", WHITE, 4],
  ],
  CNH: [
    [SQUARE, RED],
    ["M8.5 5l1.4 3.6 3.8.2-3 2.4 1 3.8-3.2-2.1-3.2 2.1 1-3.8-3-2.4 3.8-.2z", "#ffd83d"],
    [dots(["16 5.5", "18.5 9", "18.5 13", "16 16.5"]), "#ffd83d", 2],
  ],
  CZK: [
    [SQUARE, WHITE],
    ["M0 12h24v12H0z", RED],
    ["M0 0l12 12L0 24z", "#11457e"],
  ],
  DKK: nordic(RED, [WHITE, 4]),
  EUR: [
    [SQUARE, "#039"],
    [
      dots([
        "12 5",
        "15.5 5.9",
        "18.1 8.5",
        "19 12",
        "18.1 15.5",
        "15.5 18.1",
        "12 19",
        "8.5 18.1",
        "5.9 15.5",
        "5 12",
        "5.9 8.5",
        "8.5 5.9",
      ]),
      "#fc0",
      2,
    ],
  ],
  GBP: [
    [SQUARE, BLUE],
    ["M0 0l24 24M24 0L0 24", WHITE, 5],
    ["M0 0l24 24M24 0L0 24", RED, 2],
    ["M12 0v24M0 12h24", WHITE, 8],
    ["M12 0v24M0 12h24", RED, 4.6],
  ],
  HKD: [
    [SQUARE, RED],
    [dots(["12 8", "15.8 10.8", "14.4 15.2", "9.6 15.2", "8.2 10.8"]), WHITE, 4],
  ],
  HUF: [
    [SQUARE, WHITE],
    ["M0 0h24v8H0z", RED],
    ["M0 16h24v8H0z", "#436f4d"],
  ],
  JPY: [
    [SQUARE, WHITE],
    [dots(["12 12"]), RED, 12],
  ],
  MXN: [
    [SQUARE, WHITE],
    ["M0 0h8v24H0z", "#006847"],
    ["M16 0h8v24h-8z", RED],
    [dots(["12 12"]), "#8c6b3f", 4],
  ],
  NOK: nordic(RED, [WHITE, 6.5], ["#00205b", 3.2]),
  NZD: [
    [SQUARE, BLUE],
    ...UNION_CORNER,
    [dots(["18 6", "15 11", "21 11", "18 18"]), WHITE, 3.4],
    [dots(["18 6", "15 11", "21 11", "18 18"]), RED, 2.2],
  ],
  PLN: [
    [SQUARE, WHITE],
    ["M0 12h24v12H0z", RED],
  ],
  SEK: nordic("#006aa7", ["#fecc00", 4.4]),
  SGD: [
    [SQUARE, WHITE],
    ["M0 0h24v12H0z", RED],
    ["M9 2.5a4.2 4.2 0 1 0 0 7.6 3.8 3.8 0 0 1 0-7.6z", WHITE],
    [dots(["13 4", "11.5 6.5", "14.5 6.5", "12 9", "14 9"]), WHITE, 1.5],
  ],
  TRY: [
    [SQUARE, RED],
    ["M14 8a5.6 5.6 0 1 0 0 8 4.6 4.6 0 1 1 0-8z", WHITE],
    ["M14 12l4.6-1.5-2.8 3.9v-4.8l2.8 3.9z", WHITE],
  ],
  USD: [
    [SQUARE, WHITE],
    ["M0 1.7h24M0 8.6h24M0 15.4h24M0 22.3h24", RED, 3.4],
    ["M0 0h13v12H0z", "#3c3b6e"],
    [dots(["3 3.5", "6.5 3.5", "10 3.5", "4.7 6.5", "8.3 6.5", "3 9.5", "6.5 9.5", "10 9.5"]), WHITE, 1.4],
  ],
  ZAR: [
    [SQUARE, "#e03c31"],
    ["M0 12h24v12H0z", "#001489"],
    ["M0 0l10 12L0 24M9 12h15", WHITE, 9],
    ["M0 0l10 12L0 24M9 12h15", "#007749", 5.5],
    ["M0 5l6 7-6 7z", "#111"],
  ],
};

/** Metals: the colour of the disc, and the chemical symbol on it. */
export const METALS: Readonly<Record<string, readonly [colour: string, symbol: string]>> = {
  XAU: ["#dcae3b", "Au"],
  XAG: ["#b9c0ca", "Ag"],
  XPT: ["#9fb3c1", "Pt"],
  XPD: ["#c3b8a8", "Pd"],
};
