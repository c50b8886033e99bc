/** Colours of a chart, from the current theme. */
interface ChartColours {
  readonly ground: string;
  readonly text: string;
  readonly line: string;
  readonly up: string;
  readonly down: string;
}

const NAMES = { ground: "--surface", text: "--ink-faint", line: "--line", up: "--positive", down: "--danger" } as const;

/** A colour of the theme as `rgb(…)`: the chart does not support oklch, so a canvas paints one pixel with it. */
function asRgb(place: HTMLElement, pen: CanvasRenderingContext2D, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  place.append(probe);
  pen.fillStyle = getComputedStyle(probe).color;
  probe.remove();
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return `rgb(${red}, ${green}, ${blue})`;
}

/** Reads the theme at the chart's element. */
export function chartColours(place: HTMLElement): ChartColours {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (name: string) => (pen === null ? "rgb(128, 128, 128)" : asRgb(place, pen, name));
  return {
    ground: read(NAMES.ground),
    text: read(NAMES.text),
    line: read(NAMES.line),
    up: read(NAMES.up),
    down: read(NAMES.down),
  };
}
