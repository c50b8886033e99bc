"use client";

import * as Radix from "@radix-ui/react-tabs";
import type { ReactNode } from "react";
import { useCodeLanguages } from "./code-languages";

/** One language of a sample. */
interface CodeTab {
  readonly language: string;
  readonly content: ReactNode;
}

/** One sample in several languages; a choice applies to all samples on the page, and is remembered. */
export function CodeTabs({ tabs }: { tabs: readonly CodeTab[] }) {
  const { chosen, choose } = useCodeLanguages();
  const known = (language: string) => tabs.some((tab) => tab.language === language);
  const value = chosen.find(known) ?? tabs[0]?.language ?? "";
  return (
    <Radix.Root value={value} onValueChange={choose} className="code-tabs">
      <Radix.List aria-label="Language" className="flex flex-wrap gap-x-1 px-2">
        {tabs.map(({ language }) => (
          <Radix.Trigger
            key={language}
            value={language}
            className="-mb-px whitespace-nowrap border-transparent border-b-2 px-2.5 py-2 text-ink-soft text-sm hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {language}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ language, content }) => (
        <Radix.Content key={language} value={language} tabIndex={-1}>
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
