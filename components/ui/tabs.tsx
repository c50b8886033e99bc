"use client";

import * as Radix from "@radix-ui/react-tabs";
import { useSearchParams } from "next/navigation";
import type { ReactNode } from "react";

/** One of several views; its content is rendered only while it is shown. */
export interface Tab {
  readonly value: string;
  readonly label: string;
  readonly content: ReactNode;
}

/** The tabs themselves, above their views; the arrow keys switch between them. */
export function TabList({ label, tabs }: { label: string; tabs: readonly Pick<Tab, "value" | "label">[] }) {
  return (
    <Radix.List
      aria-label={label}
      className="flex gap-1 max-[359px]:flex-wrap max-[359px]:gap-0 overflow-x-auto overflow-y-hidden border-line border-b"
    >
      {tabs.map(({ value, label: name }) => (
        <Radix.Trigger
          key={value}
          value={value}
          className="-mb-px border-transparent border-b-2 px-2 py-2 max-[359px]:px-1 sm:px-3 text-ink-soft text-sm max-[359px]:text-[13px] -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
        >
          {name}
        </Radix.Trigger>
      ))}
    </Radix.List>
  );
}

/** What a tab shows, below the list. */
function Views({ tabs }: { tabs: readonly Tab[] }) {
  return tabs.map(({ value, content }) => (
    <Radix.Content key={value} value={value} className="pt-4">
      {content}
    </Radix.Content>
  ));
}

/** Several views in one place. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly [Tab, ...Tab[]] }) {
  return (
    <Radix.Root defaultValue={tabs[0].value}>
      <TabList label={label} tabs={tabs} />
      <Views tabs={tabs} />
    </Radix.Root>
  );
}

/** The same with the chosen view in the address, as `?tab=`, so that links lead to it. */
export function AddressTabs({ label, tabs }: { label: string; tabs: readonly [Tab, ...Tab[]] }) {
  const asked = useSearchParams().get("tab");
  const shown = tabs.find(({ value }) => value === asked) ?? tabs[0];
  return (
    <Radix.Root value={shown.value} onValueChange={(value) => window.history.replaceState(null, "", `?tab=${value}`)}>
      <TabList label={label} tabs={tabs} />
      <Views tabs={tabs} />
    </Radix.Root>
  );
}
