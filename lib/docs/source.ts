import type { Node, Root } from "fumadocs-core/page-tree";
import { type InferPageType, llms, loader } from "fumadocs-core/source";
import type { Brand } from "#lib/brand";
import { guides, reference } from "../generated/docs/server";

/** Every page: the guides, and what is printed from the contract. */
const docs = loader({ guides: guides.toFumadocsSource(), reference: reference.toFumadocsSource() }, { baseUrl: "/docs" });

/** One page: its address, title, outline and content. */
export type DocsPage = InferPageType<typeof docs>;

/** A page or a folder of the tree as lines of /llms.txt. */
export const { indexNode } = llms(docs);

/** The section for those who run an installation. */
const OPERATOR_SECTION = "Running it";
const PATH = /^[^#?]*?(?=\.md|[#?]|$)/;

/** The documentation as one installation shows it. */
export interface Docs {
  /** The left tree. */
  readonly tree: Root;
  readonly pages: readonly DocsPage[];
  /** The page at a path below /docs. */
  page(slug: readonly string[] | undefined): DocsPage | undefined;
  /** Whether a link leads to a page that this installation does not show. */
  isHidden(href: string): boolean;
}

const urlsOf = (node: Node): string[] =>
  node.type === "folder"
    ? [...(node.index ? [node.index] : []), ...node.children].flatMap(urlsOf)
    : node.type === "page"
      ? [node.url]
      : [];

function docsWithout(section: string | undefined): Docs {
  const whole = docs.getPageTree();
  const shown: Node[] = [];
  const hidden = new Set<string>();
  let current: unknown;
  for (const node of whole.children) {
    if (node.type === "separator") current = node.name;
    if (current === section) for (const url of urlsOf(node)) hidden.add(url);
    else shown.push(node);
  }
  return {
    tree: { ...whole, children: shown },
    pages: docs.getPages().filter(({ url }) => !hidden.has(url)),
    page(slug) {
      const page = docs.getPage(slug && [...slug]);
      return page === undefined || hidden.has(page.url) ? undefined : page;
    },
    isHidden: (href) => hidden.has(PATH.exec(href)?.[0] ?? href),
  };
}

const ALL = docsWithout(undefined);
const FOR_CUSTOMERS = docsWithout(OPERATOR_SECTION);

/** The documentation of an installation: all of it, or without what is for those who run one. */
export const docsOf = ({ forOperators }: Pick<Brand, "forOperators">): Docs => (forOperators ? ALL : FOR_CUSTOMERS);

/** The day a page was last edited, as YYYY-MM-DD; undefined for one that is printed from the contract. */
export function updatedOn(page: DocsPage): string | undefined {
  return page.type === "guides" ? page.data.updated : undefined;
}
