import { readFileSync } from "node:fs";
import { blocks, type ReferencePage } from "./page";

const FIRST_HEADING = /^# .*\n+/;

/** A Markdown file of the project that is also a docs page, without its title. */
function shared(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8")
    .replace(FIRST_HEADING, "")
    .trim();
}

/** Pages made from Markdown files of the project. */
export function documentPages(): ReferencePage[] {
  return [
    {
      path: "changelog",
      title: "Changelog",
      description: "User-visible changes, newest first.",
      body: blocks(shared("../../../CHANGELOG.md")),
    },
    {
      path: "security-checklist",
      title: "Security checklist",
      description: "How the service meets the OWASP API Security Top 10 and the OWASP ASVS at level 2, point by point.",
      body: blocks(shared("../security.md")),
    },
  ];
}
