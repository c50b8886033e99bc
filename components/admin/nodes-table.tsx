import type { NodeHealth } from "#lib/contract/portal-health";
import { durationText } from "#lib/duration";
import { serviceState } from "#lib/service-state";
import { countText, msText, rateText, sizeText } from "../portal/numbers";
import { Badge } from "../ui/badge";
import { type Column, Table } from "../ui/table";

const ticksOf = ({ rates }: NodeHealth) => rates && Object.values(rates.ticks).reduce((sum, ticks) => sum + ticks, 0);

function State({ node, atMs }: { node: NodeHealth; atMs: number }) {
  if (node.silent) return <Badge tone="danger">Silent for {durationText(node.age_ms, 1)}</Badge>;
  const { level, checks } = serviceState({ atMs, nodes: [node] });
  if (level !== "operational") return <Badge tone="danger">Problem</Badge>;
  const isWarned = checks.some(({ impact }) => impact !== null);
  return <Badge tone={isWarned ? "warning" : "positive"}>{isWarned ? "Warning" : "OK"}</Badge>;
}

/** A figure of a node with another below it; those of a silent one are old and left out. */
const figure = (
  head: string,
  of: (node: NodeHealth) => string,
  more: { readonly below?: (node: NodeHealth) => string; readonly from?: "sm" | "md" | "lg" } = {},
): Column<NodeHealth> => ({
  head,
  numeric: true,
  ...(more.from !== undefined && { from: more.from }),
  cell: (node) =>
    node.silent ? (
      "–"
    ) : (
      <>
        {of(node)}
        {more.below === undefined ? null : <span className="block text-ink-faint text-xs leading-5">{more.below(node)}</span>}
      </>
    ),
});

/** The age of the newest tick of any venue: whether the node keeps up. */
function lagText({ lag_ms }: NodeHealth): string {
  const known = Object.values(lag_ms).filter((lag) => lag !== null);
  return known.length === 0 ? "no tick yet" : `lag ${durationText(Math.min(...known), 1)}`;
}

const columns = (atMs: number): readonly Column<NodeHealth>[] => [
  {
    head: "Node",
    grow: true,
    cell: ({ name, role, version }) => (
      <>
        <span className="block min-w-32 font-medium [overflow-wrap:anywhere]">{name}</span>
        <span className="block text-ink-faint text-xs leading-5">
          {role}, version {version}
        </span>
      </>
    ),
  },
  { head: "State", cell: (node) => <State node={node} atMs={atMs} /> },
  figure("Requests/min", ({ rates }) => rateText(rates?.calls), {
    below: ({ rates }) => `${rateText(rates?.failed)} errors`,
    from: "sm",
  }),
  figure("Ticks/min", (node) => rateText(ticksOf(node)), { below: lagText, from: "md" }),
  figure("Streams", ({ connections }) => countText(connections), { from: "sm" }),
  figure("Event loop", ({ loop_lag_ms }) => msText(loop_lag_ms), { from: "lg" }),
  figure("Memory", ({ memory_bytes }) => sizeText(memory_bytes), {
    below: ({ disk }) => (disk === null ? "disk unknown" : `${sizeText(disk.free_bytes)} disk free`),
    from: "lg",
  }),
  figure("Up for", ({ started_ms }) => durationText(atMs - started_ms, 1), { from: "lg" }),
];

/** Every node that reports, and those that went silent. */
export function NodesTable({ nodes, atMs }: { nodes: readonly NodeHealth[]; atMs: number }) {
  return (
    <Table
      caption="Nodes"
      columns={columns(atMs)}
      rows={nodes}
      rowKey={({ name, started_ms }) => `${name} ${started_ms}`}
      empty="No node has reported. A node reports as soon as it has started and reaches the database."
    />
  );
}
