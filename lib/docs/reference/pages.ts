import { documentPages } from "./documents";
import { errorPages } from "./errors";
import { operationPages } from "./operations";
import { pageText, type ReferencePage } from "./page";
import { recordPages } from "./records";
import { streamPages } from "./stream";

/** Everything that is printed from the contract and from other files of the project, in the order it is read. */
export function referencePages(): ReferencePage[] {
  return [...operationPages(), ...streamPages(), ...recordPages(), ...errorPages(), ...documentPages()];
}

/** A section of the left tree, as Fumadocs reads it. */
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

/** The guide on errors has the address of their folder; brackets keep the two apart in the tree and out of addresses. */
const folderOf = (section: string) => (section === "errors" ? "(errors)/errors" : section);

/** The file a page is written to, below the folder of the generated pages. */
function fileOf({ path }: ReferencePage): string {
  const [section = "", name] = path.split("/");
  return name === undefined ? `${section}.md` : `${folderOf(section)}/${name}.md`;
}

/** Every file of the reference with its text, by path. */
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
