import { documentPages } from "./documents";
import { errorPages } from "./errors";
import { operationPages } from "./operations";
import { pageText, type ReferencePage } from "./page";
import { recordPages } from "./records";
import { streamPages } from "./stream";

/** All pages generated from the contract and from other files of the project, in reading order. */
export function referencePages(): ReferencePage[] {
  return [...operationPages(), ...streamPages(), ...recordPages(), ...errorPages(), ...documentPages()];
}

/** A section of the navigation, in the format of Fumadocs. */
interface Section {
  readonly title: string;
  readonly pages: readonly string[];
}

const TITLES: Readonly<Record<string, string>> = {
  operations: "REST operations",
  streams: "Stream messages",
  records: "Records",
  errors: "Error pages",
};

/** The errors guide has the same path as the folder of error pages; a name in parentheses keeps them apart without changing URLs. */
const folderOf = (section: string) => (section === "errors" ? "(errors)/errors" : section);

/** The file of a page, relative to the folder of generated pages. */
function fileOf({ path }: ReferencePage): string {
  const [section = "", name] = path.split("/");
  return name === undefined ? `${section}.md` : `${folderOf(section)}/${name}.md`;
}

/** Every generated file with its text, by path. */
export function referenceFiles(): Record<string, string> {
  const pages = referencePages();
  const files = pages.map((page) => [fileOf(page), pageText(page)]);
  const metas = Object.entries(TITLES).map(([section, title]) => {
    const places = pages.map(({ path }) => path.split("/"));
    const names = places.flatMap(([own, name]) => (own === section && name !== undefined && name !== "index" ? [name] : []));
    const meta: Section = { title, pages: names };
    return [`${folderOf(section)}/meta.json`, `${JSON.stringify(meta)}\n`];
  });
  const errors: Section = { title: TITLES.errors ?? "", pages: ["...errors"] };
  return { ...Object.fromEntries([...files, ...metas]), "(errors)/meta.json": `${JSON.stringify(errors)}\n` };
}
