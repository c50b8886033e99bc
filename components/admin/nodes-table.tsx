import type { NodeHealth } from "#lib/contract/portal-health";
import { durationText } from "#lib/duration";
import { countText, msText, rateText, sizeText } from "../portal/numbers";
import { Badge } from "../ui/badge";
import { type Column, Table } from "../ui/table";
import { problemsOf } from "./health-checks";

const ticksOf = ({ rates }: NodeHealth) => rates && Object.values(rates.ticks).reduce((sum, ticks) => sum + ticks, 0);

function State({ node }: { node: NodeHealth }) {
  if (node.silent) return <Badge tone="danger">Silent for {durationText(node.age_ms, 1)}</Badge>;
  const wrong = Object.values(problemsOf(node)).some((problem) => problem !== null);
  return <Badge tone={wrong ? "danger" : "positive"}>{wrong ? "Problem" : "OK"}</Badge>;
}

/** Figures of a node; those of a silent one are old and left out. */
const figure = (head: string, of: (node: NodeHealth) => string, from?: "sm" | "md" | "lg" | "xl"): Column<NodeHealth> => ({
  head,
  numeric: true,
  ...(from !== undefined && { from }),
  cell: (node) => (node.silent ? "–" : of(node)),
});

const columns = (atMs: number): readonly Column<NodeHealth>[] => [
  {
    head: "Node",
    grow: true,
    cell: ({ name, role, version }) => (
      <>
        <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
        <span className="block text-ink-faint text-xs leading-5">
          {role}, version {version}
        </span>
      </>
    ),
  },
  { head: "State", cell: (node) => <State node={node} /> },
  figure("Calls/min", ({ rates }) => rateText(rates?.calls), "sm"),
  figure("Errors/min", ({ rates }) => rateText(rates?.failed), "md"),
  figure("Ticks/min", (node) => rateText(ticksOf(node)), "md"),
  figure("Streams", ({ connections }) => countText(connections), "sm"),
  figure("Event loop", ({ loop_lag_ms }) => msText(loop_lag_ms), "xl"),
  figure("Memory", ({ memory_bytes }) => sizeText(memory_bytes), "lg"),
  figure("Free disk", ({ disk }) => (disk === null ? "–" : sizeText(disk.free_bytes)), "xl"),
  figure("Up for", ({ started_ms }) => durationText(atMs - started_ms, 1), "lg"),
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
