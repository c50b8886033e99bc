import { ROWS } from "./rows";

/** The variable with which the reader of a dashboard chooses its Prometheus. */
const DATASOURCE = { type: "prometheus", uid: "$datasource" };
/** Grafana's grid has 24 columns: three panels side by side. */
const PANEL = { w: 8, h: 7 };
const ROW = { w: 24, h: 1 };
const PANELS_IN_LINE_COUNT = ROW.w / PANEL.w;

/** A row or a graph, in its place on the grid. */
interface DashboardPanel {
  readonly type: "row" | "timeseries";
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

function panelsOf(): DashboardPanel[] {
  const made: DashboardPanel[] = [];
  let y = 0;
  for (const { title, panels } of ROWS) {
    const row = { type: "row" as const, id: made.length + 1, title, gridPos: { x: 0, y, ...ROW }, collapsed: false, panels: [] };
    made.push(row);
    y += ROW.h;
    for (const [index, { title, unit, help, queries }] of panels.entries()) {
      const line = Math.floor(index / PANELS_IN_LINE_COUNT);
      const panel = {
        type: "timeseries" as const,
        id: made.length + 1,
        title,
        description: help,
        datasource: DATASOURCE,
        gridPos: { x: (index % PANELS_IN_LINE_COUNT) * PANEL.w, y: y + line * PANEL.h, ...PANEL },
        fieldConfig: { defaults: { unit, custom: { axisSoftMin: 0, fillOpacity: 8 } }, overrides: [] },
        options: {
          legend: { displayMode: "list", placement: "bottom", showLegend: true, calcs: [] },
          tooltip: { mode: "multi", sort: "desc" },
        },
        targets: queries.map(({ expr, legend }) => ({ expr, legendFormat: legend })),
      };
      made.push(panel);
    }
    y += Math.ceil(panels.length / PANELS_IN_LINE_COUNT) * PANEL.h;
  }
  return made;
}

/** The dashboard as Grafana imports it: a row for each topic, for the chosen Prometheus and nodes. */
export function grafanaDashboard(title: string) {
  const source = { type: "datasource", name: "datasource", label: "Data source", query: "prometheus" };
  const nodes = {
    type: "query",
    name: "instance",
    label: "Node",
    datasource: DATASOURCE,
    query: "label_values(spotwire_stream_connections, instance)",
    // When the range of time changes.
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: ".+",
  };
  return {
    uid: "spotwire",
    title,
    tags: ["spotwire"],
    // The format of Grafana 12, which later releases convert.
    schemaVersion: 42,
    timezone: "browser",
    editable: true,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    // All graphs mark the instant that the pointer is at.
    graphTooltip: 1,
    templating: { list: [source, nodes] },
    annotations: {},
    panels: panelsOf(),
  };
}
