import { readFileSync } from "node:fs";

const CONTRIBUTING = readFileSync("CONTRIBUTING.md", "utf8");

/** The text of a recipe of CONTRIBUTING. */
export function recipe(title: string): string {
  const [, rest = ""] = CONTRIBUTING.split(`\n### ${title}\n`);
  return rest.split("\n### ")[0] ?? "";
}
