import type { IChartApi, IPrimitivePaneRenderer, ISeriesPrimitive, Time, UTCTimestamp } from "lightweight-charts";
import { BREAK_WORDS, type Break } from "./breaks";
import type { ChartColours } from "./colours";

/** A break on the time axis, with its first and last slot. */
export interface Band {
  readonly kind: Break["kind"];
  readonly first: number;
  readonly last: number;
}

const FONT = "11px system-ui, sans-serif";
const LABEL_MARGIN_PX = 8;
/** A band narrower than this has no room for a label. */
const UPRIGHT_MIN_PX = 14;
const HATCH_STEP_PX = 6;

interface Place {
  readonly left: number;
  readonly width: number;
  readonly height: number;
}

function hatch(pen: CanvasRenderingContext2D, { left, width, height }: Place, colour: string): void {
  pen.save();
  pen.beginPath();
  pen.rect(left, 0, width, height);
  pen.clip();
  pen.beginPath();
  for (let x = left - height; x < left + width; x += HATCH_STEP_PX) {
    pen.moveTo(x, height);
    pen.lineTo(x + height, 0);
  }
  pen.strokeStyle = colour;
  pen.stroke();
  pen.restore();
}

/** Writes the label across the top of the band, or upwards along it when it is narrow. */
function label(pen: CanvasRenderingContext2D, { left, width, height }: Place, text: string, colour: string): void {
  if (width < UPRIGHT_MIN_PX) return;
  pen.font = FONT;
  pen.fillStyle = colour;
  pen.textBaseline = "middle";
  const long = pen.measureText(text).width;
  if (long + 2 * LABEL_MARGIN_PX <= width) {
    pen.textAlign = "center";
    pen.fillText(text, left + width / 2, 2 * LABEL_MARGIN_PX);
    return;
  }
  pen.save();
  pen.translate(left + width / 2, height - LABEL_MARGIN_PX);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "left";
  pen.fillText(text, 0, 0);
  pen.restore();
}

/** Draws breaks behind the candles: closed hours as a tint, missing klines hatched, both with a label. */
export function createBands(
  chart: Pick<IChartApi, "timeScale">,
  bands: () => readonly Band[],
  colours: () => ChartColours,
): ISeriesPrimitive<Time> {
  const renderer: IPrimitivePaneRenderer = {
    draw: () => undefined,
    drawBackground(target) {
      // biome-ignore lint/correctness/useHookAtTopLevel: a method of the chart, not a hook
      target.useMediaCoordinateSpace(({ context: pen, mediaSize: { width: paneWidth, height } }) => {
        const { closed, missing, text } = colours();
        const scale = chart.timeScale();
        const half = scale.options().barSpacing / 2;
        for (const { kind, first, last } of bands()) {
          const from = scale.timeToCoordinate(first as UTCTimestamp);
          const to = scale.timeToCoordinate(last as UTCTimestamp);
          if (from === null || to === null || to + half < 0 || from - half > paneWidth) continue;
          const place = { left: from - half, width: to - from + 2 * half, height };
          pen.fillStyle = closed;
          pen.fillRect(place.left, 0, place.width, height);
          if (kind !== "closed") hatch(pen, place, missing);
          label(pen, place, BREAK_WORDS[kind], text);
        }
      });
    },
  };
  const views = [{ zOrder: () => "bottom" as const, renderer: () => renderer }];
  return { paneViews: () => views };
}
