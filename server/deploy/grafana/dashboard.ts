import {
  SortOrder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { ROWS } from "./rows";

/** The variable with which the reader of a dashboard chooses its Prometheus. */
const DATASOURCE = { type: "prometheus", uid: "$datasource" };
/** Grafana's grid has 24 columns. */
const PANEL = { w: 8, h: 7 };

const LEGEND = new VizLegendOptionsBuilder().showLegend(true);
const TOOLTIP = new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending);

/** The dashboard as Grafana imports it: a row for each topic, for the chosen Prometheus and nodes. */
export function buildDashboard(): Dashboard {
  const dashboard = new DashboardBuilder("Spotwire")
    .uid("spotwire")
    .tags(["spotwire"])
    .time({ from: "now-6h", to: "now" })
    .refresh("30s")
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .withVariable(
      new QueryVariableBuilder("instance")
        .label("Node")
        .datasource(DATASOURCE)
        .query("label_values(spotwire_stream_connections, instance)")
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .multi(true)
        .includeAll(true)
        .allValue(".+"),
    );
  let id = 0;
  const nextId = () => {
    id += 1;
    return id;
  };
  for (const { title, panels } of ROWS) {
    dashboard.withRow(new RowBuilder(title).id(nextId()));
    for (const { title, unit, help, queries } of panels) {
      const panel = new PanelBuilder().id(nextId()).title(title).unit(unit).datasource(DATASOURCE).span(PANEL.w).height(PANEL.h);
      panel.axisSoftMin(0).fillOpacity(8).legend(LEGEND).tooltip(TOOLTIP);
      if (help !== undefined) panel.description(help);
      for (const { expr, legend } of queries) panel.withTarget(new DataqueryBuilder().expr(expr).legendFormat(legend));
      dashboard.withPanel(panel);
    }
  }
  return dashboard.build();
}

/** The text of `server/deploy/grafana/spotwire.json`. */
export const dashboardText = (): string => `${JSON.stringify(buildDashboard(), null, 2)}\n`;
