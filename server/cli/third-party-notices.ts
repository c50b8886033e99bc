import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** A package in package-lock.json. */
interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[-.].*)?$/i;

/** The licences and notices that a package brings; empty for one of another system, which is not installed here. */
function textsOf(folder: string): string {
  if (!existsSync(folder)) return "";
  const files = readdirSync(folder, { withFileTypes: true }).filter((file) => file.isFile() && LICENCE_FILE.test(file.name));
  return files
    .map(({ name }) => readFileSync(path.join(folder, name), "utf8").trim())
    .sort()
    .join("\n\n");
}

/**
 * The licence of the program, then the packages that it is shipped with, by the lock file, and the texts they come with. Packages with the
 * same text share it.
 * @param root the folder of the project
 */
export function thirdPartyNotices(root: string): string {
  const lock = readFileSync(path.join(root, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, Locked>> };
  const namesByText = new Map<string, string[]>();
  for (const [folder, { version, license = "see its text", dev }] of Object.entries(packages)) {
    if (folder === "" || dev === true) continue;
    const name = `${folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length)} ${version} (${license})`;
    const text = textsOf(path.join(root, folder));
    const names = namesByText.get(text) ?? [];
    namesByText.set(text, names.includes(name) ? names : [...names, name]);
  }
  const own = readFileSync(path.join(root, "LICENSE"), "utf8").trim();
  const parts = [...namesByText].map(([text, names]) => (text === "" ? names.join("\n") : `${names.join("\n")}\n\n${text}`));
  return `${[own, "Packages that this program is shipped with, and their licences:", ...parts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
