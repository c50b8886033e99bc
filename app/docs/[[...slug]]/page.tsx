import { findNeighbour } from "fumadocs-core/page-tree";
import type { Metadata } from "next";
import { cookies } from "next/headers";
import { notFound } from "next/navigation";
import { readerWords } from "#app/reader-address";
import { CodeLanguages } from "#components/docs/code-languages";
import { DocsFooter } from "#components/docs/docs-footer";
import { DocsHead } from "#components/docs/docs-head";
import { mdxComponents } from "#components/docs/mdx";
import { Outline } from "#components/docs/outline";
import { type DocsPage, docs, updatedOn } from "#lib/docs/source";
import { LANGUAGES_COOKIE, languagesOf } from "../../../components/docs/languages";

interface Props {
  readonly params: Promise<{ readonly slug?: string[] }>;
}

async function pageOf({ params }: Props): Promise<DocsPage> {
  return docs.getPage((await params).slug) ?? notFound();
}

export async function generateMetadata(props: Props): Promise<Metadata> {
  const { data, url } = await pageOf(props);
  return { title: data.title, description: data.description, alternates: { types: { "text/markdown": `${url}.md` } } };
}

/** One page: its text between the tree and its outline. */
export default async function DocumentationPage(props: Props) {
  const page = await pageOf(props);
  const { title, description, toc, body: Body } = page.data;
  const languages = languagesOf((await cookies()).get(LANGUAGES_COOKIE)?.value);
  const { previous, next } = findNeighbour(docs.getPageTree(), page.url);
  return (
    <>
      <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <article>
          <DocsHead title={title} description={description} url={page.url} />
          <CodeLanguages chosen={languages}>
            <div className="prose">
              <Body components={mdxComponents(await readerWords())} />
            </div>
          </CodeLanguages>
        </article>
        <DocsFooter updated={updatedOn(page)} previous={previous} next={next} />
      </main>
      <Outline items={toc} />
    </>
  );
}
