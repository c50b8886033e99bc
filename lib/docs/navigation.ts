import type { Folder, Item, Node } from "fumadocs-core/page-tree";
import type { Docs } from "./source";

/** A page of the left tree. */
export interface NavPage {
  readonly href: string;
  readonly label: string;
}

/** Pages of the left tree that are folded under one name. */
export interface NavGroup {
  readonly label: string;
  readonly pages: readonly NavPage[];
}

/** A part of the left tree under its heading. */
export interface NavSection {
  readonly title: string;
  readonly entries: readonly (NavPage | NavGroup)[];
}

const pageOf = ({ url, name }: Item): NavPage => ({ href: url, label: String(name) });

function groupOf({ name, index, children }: Folder): NavGroup {
  const pages = children.flatMap((child) => (child.type === "page" ? [pageOf(child)] : []));
  return { label: String(name), pages: index === undefined ? pages : [{ href: index.url, label: "Overview" }, ...pages] };
}

/** The left tree: sections of pages and of groups of pages, in the order they are read. */
export function docsSections({ tree }: Pick<Docs, "tree">): NavSection[] {
  const sections: { title: string; entries: (NavPage | NavGroup)[] }[] = [];
  const add = (node: Exclude<Node, { type: "separator" }>) => {
    if (sections.length === 0) sections.push({ title: "Documentation", entries: [] });
    sections.at(-1)?.entries.push(node.type === "folder" ? groupOf(node) : pageOf(node));
  };
  for (const node of tree.children) {
    if (node.type === "separator") sections.push({ title: String(node.name), entries: [] });
    else add(node);
  }
  return sections;
}

/** Where a page is in the left tree, as words: "Reference · REST operations". Undefined for a page outside of it. */
export function sectionOf(docs: Pick<Docs, "tree">, url: string): string | undefined {
  for (const { title, entries } of docsSections(docs)) {
    for (const entry of entries) {
      if ("href" in entry && entry.href === url) return title;
      if ("pages" in entry && entry.pages.some(({ href }) => href === url)) return `${title} · ${entry.label}`;
    }
  }
  return undefined;
}
