import { findNeighbour } from "fumadocs-core/page-tree";
import type { Metadata } from "next";
import { cookies } from "next/headers";
import { notFound } from "next/navigation";
import { brandHere } from "#app/brand";
import { docsHere } from "#app/docs-here";
import { readerWords } from "#app/reader-address";
import { CodeLanguages } from "#components/docs/code-languages";
import { DocsFooter } from "#components/docs/docs-footer";
import { DocsHead } from "#components/docs/docs-head";
import { guideChart } from "#components/docs/guide-chart";
import { mdxComponents } from "#components/docs/mdx";
import { Outline } from "#components/docs/outline";
import { SampleCall } from "#components/docs/sample-call";
import { WidePage } from "#components/shell/wide-page";
import { tryIt } from "#components/try/try-operation";
import { exampleParameters, type Operation } from "#lib/contract/operation";
import { sectionOf } from "#lib/docs/navigation";
import { operationAt } from "#lib/docs/reference/paths";
import { SAMPLE_KEY } from "#lib/docs/sample-words";
import { urlOf } from "#lib/docs/samples/call";
import { type DocsPage, updatedOn } from "#lib/docs/source";
import { LANGUAGES_COOKIE, languagesOf } from "../../../components/docs/languages";
import { plainText } from "../../../components/portal/plain-text";

interface Props {
  readonly params: Promise<{ readonly slug?: string[] }>;
}

async function pageOf({ params }: Props): Promise<DocsPage> {
  return docsHere().page((await params).slug) ?? notFound();
}

export async function generateMetadata(props: Props): Promise<Metadata> {
  const { data, url } = await pageOf(props);
  const words = await readerWords();
  // Some calls are called as the guide about them.
  const title = url.startsWith("/docs/operations/") ? `${data.title} (API call)` : data.title;
  const types = { "text/markdown": `${url}.md`, ...(url === "/docs/changelog" && { "application/atom+xml": "/changelog.atom" }) };
  return { title: words(title), description: plainText(words(data.description) ?? ""), alternates: { types } };
}

/** The call in the samples of an operation's page, as path and query. */
const callOf = (operation: Operation) => urlOf({ operation, parameters: exampleParameters(operation), base: "", key: null });

/** One page: its text between the tree and its outline. */
export default async function DocumentationPage(props: Props) {
  const page = await pageOf(props);
  const { title, description, toc, body: Body } = page.data;
  const { url } = page;
  const [docs, words] = [docsHere(), await readerWords()];
  const operation = operationAt(url);
  const call = operation === undefined ? undefined : callOf(operation);
  // The column of an operation's request takes the place of the outline.
  const wide = operation !== undefined;
  const languages = languagesOf((await cookies()).get(LANGUAGES_COOKIE)?.value);
  const { previous, next } = findNeighbour(docs.tree, url);
  return (
    <>
      <main id="main" tabIndex={-1} className={`min-w-0 flex-1 outline-none ${wide ? "xl:col-span-2" : ""}`}>
        {wide ? <WidePage /> : null}
        <article>
          <DocsHead section={sectionOf(docs, url)} title={words(title)} description={words(description)} url={url} />
          <CodeLanguages chosen={languages}>
            <SampleCall key={url} printed={call ?? ""}>
              <div className="prose">
                <Body
                  components={{
                    ...mdxComponents({ words, call, isHidden: docs.isHidden }),
                    // biome-ignore lint/correctness/noComponentHookFactories: rendered once, on the server, and without state
                    ServiceName: () => brandHere().name,
                    TryIt: tryIt(words(SAMPLE_KEY)),
                    LiveChart: guideChart(words(SAMPLE_KEY)),
                  }}
                />
              </div>
            </SampleCall>
          </CodeLanguages>
        </article>
        <DocsFooter updated={updatedOn(page)} previous={previous} next={next} />
      </main>
      {wide ? null : <Outline items={toc} />}
    </>
  );
}
