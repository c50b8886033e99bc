/** Colours of a chart, from the current theme. */
export interface ChartColours {
  readonly ground: string;
  readonly text: string;
  readonly line: string;
  readonly up: string;
  readonly down: string;
  /** Bars of the tick volume. */
  readonly volume: string;
  /** The line of a second instrument. */
  readonly second: string;
  /** Bands of closed hours and of missing klines. */
  readonly closed: string;
  readonly missing: string;
}

/** The names in the theme, with the opacity on the chart. */
const NAMES: { readonly [Name in keyof ChartColours]: readonly [name: string, opacity: number] } = {
  ground: ["--surface", 1],
  text: ["--ink-faint", 1],
  line: ["--line", 1],
  up: ["--positive", 1],
  down: ["--danger", 1],
  volume: ["--ink-faint", 0.35],
  second: ["--accent", 1],
  closed: ["--ink-faint", 0.09],
  missing: ["--warning", 0.28],
};

/** A colour of the theme as `rgba(…)`: the chart does not support oklch, so a canvas paints one pixel with it. */
function asRgb(place: HTMLElement, pen: CanvasRenderingContext2D, name: string, opacity: number): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  place.append(probe);
  pen.fillStyle = getComputedStyle(probe).color;
  probe.remove();
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

/** Reads the theme at the chart's element. */
export function chartColours(place: HTMLElement): ChartColours {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = ([name, opacity]: readonly [string, number]) =>
    pen === null ? `rgba(128, 128, 128, ${opacity})` : asRgb(place, pen, name, opacity);
  const { ground, text, line, up, down, volume, second, closed, missing } = NAMES;
  return {
    ground: read(ground),
    text: read(text),
    line: read(line),
    up: read(up),
    down: read(down),
    volume: read(volume),
    second: read(second),
    closed: read(closed),
    missing: read(missing),
  };
}

/** Calls back when the theme changes, by the switch or by the system, until the returned function is called. */
export function onThemeChange(changed: () => void): () => void {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", changed);
  const theme = new MutationObserver(changed);
  theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    scheme.removeEventListener("change", changed);
    theme.disconnect();
  };
}
