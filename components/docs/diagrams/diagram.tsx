import type { ComponentType, ReactNode } from "react";
import { Alignment } from "./alignment";
import { KeyLife } from "./key-life";
import { MarketStates } from "./market-states";
import { Paging } from "./paging";
import { Resume } from "./resume";

/** The diagrams of the guides by name. */
export const DRAWINGS: Readonly<Record<string, ComponentType>> = {
  alignment: Alignment,
  "key-life": KeyLife,
  "market-states": MarketStates,
  paging: Paging,
  resume: Resume,
};

/** A diagram and its caption. On a phone it scrolls, so that its words stay readable. */
export function Diagram({ name, children }: { name: string; children: ReactNode }) {
  const Shown = DRAWINGS[name];
  if (Shown === undefined) return null;
  return (
    <figure className="diagram">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard */}
      <div tabIndex={0}>
        <Shown />
      </div>
      <figcaption>{children}</figcaption>
    </figure>
  );
}
