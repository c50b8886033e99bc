import { readFileSync } from "node:fs";
import { blocks, type ReferencePage } from "./page";

const FIRST_HEADING = /^# .*\n+/;

/** A text of the project that readers of its files and of the pages share, without its own title. */
function shared(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8")
    .replace(FIRST_HEADING, "")
    .trim();
}

/** Texts that stand in the project as files of their own. */
export function documentPages(): ReferencePage[] {
  return [
    {
      path: "changelog",
      title: "Changelog",
      description: "What changed for users, newest first.",
      body: blocks(shared("../../../CHANGELOG.md")),
    },
    {
      path: "security-checklist",
      title: "Security checklist",
      description: "The service against the OWASP API Security Top 10 and level 2 of the OWASP ASVS, point by point.",
      body: blocks(shared("../security.md")),
    },
  ];
}
