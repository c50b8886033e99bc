import {
  createChartEx,
  type DeepPartial,
  defaultHorzScaleBehavior,
  type HorzScaleOptions,
  TickMarkType,
  type Time,
  type TimeChartOptions,
} from "lightweight-charts";
import { SECOND_MS } from "#lib/units";
import { type TimeShape, timeText } from "../portal/date-format";
import type { ChartClock } from "./clock";
import type { ChartColours } from "./colours";

const SHAPES: Readonly<Record<TickMarkType, TimeShape>> = {
  [TickMarkType.Year]: "year",
  [TickMarkType.Month]: "month",
  [TickMarkType.DayOfMonth]: "dayOfMonth",
  [TickMarkType.Time]: "time",
  [TickMarkType.TimeWithSeconds]: "clock",
};

/** The text of a mark on the time axis. */
export function markText(type: TickMarkType, atS: number, clock: Pick<ChartClock, "shown">): string {
  return timeText(clock.shown(atS) * SECOND_MS, SHAPES[type], "UTC");
}

/** The options of a chart that follow the theme. */
export function themed({ ground, text, line }: ChartColours) {
  return {
    layout: { background: { color: ground }, textColor: text, panes: { separatorColor: line, enableResize: false } },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line },
    timeScale: { borderColor: line },
  };
}

/** A chart whose time axis has its days, months and years where the clock has them. By itself, the library has them where UTC does. */
export function createClockedChart(
  place: HTMLElement,
  clock: Pick<ChartClock, "shown" | "text">,
  colours: ChartColours,
  axis: DeepPartial<HorzScaleOptions>,
) {
  class ClockedScale extends defaultHorzScaleBehavior() {
    override options(): TimeChartOptions {
      return super.options() as TimeChartOptions;
    }
    override fillWeightsForPoints(
      points: Parameters<InstanceType<ReturnType<typeof defaultHorzScaleBehavior>>["fillWeightsForPoints"]>[0],
      start: number,
    ): void {
      const before = Math.max(0, start - 1);
      const shown = points.slice(before).map((point) => ({
        ...point,
        time: this.convertHorzItemToInternal(clock.shown(Number(point.originalTime)) as Time),
      }));
      super.fillWeightsForPoints(shown, start - before);
      for (const [index, { timeWeight }] of shown.entries()) {
        const point = points[before + index];
        if (point !== undefined) point.timeWeight = timeWeight;
      }
    }
  }
  const { layout, grid, rightPriceScale, timeScale } = themed(colours);
  return createChartEx<Time, ClockedScale>(place, new ClockedScale(), {
    autoSize: true,
    // On a phone, a swipe up or down scrolls the page: a chart fills the screen, and would hold its reader.
    handleScroll: { vertTouchDrag: false },
    grid,
    // Its own logo needs a style sheet that the security policy refuses; the link below the chart is the attribution.
    layout: { ...layout, attributionLogo: false, fontSize: 11 },
    // A label at the edge of a pane is left out where it would be cut.
    rightPriceScale: { ...rightPriceScale, entireTextOnly: true },
    localization: { timeFormatter: (time: Time) => clock.text(Number(time)) },
    timeScale: {
      ...timeScale,
      ...axis,
      tickMarkFormatter: (time: Time, type: TickMarkType) => markText(type, Number(time), clock),
    },
  });
}
