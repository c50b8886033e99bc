import { Prose } from "../ui/prose";
import { CopyPage } from "./copy-page";

interface DocsHeadProps {
  /** Where the page is in the tree: "Reference · REST operations". */
  readonly section: string | undefined;
  readonly title: string;
  /** With code between backticks. */
  readonly description: string | undefined;
  readonly url: string;
}

/** The header of a page: its h1, its summary, and links to its Markdown. */
export function DocsHead({ section, title, description, url }: DocsHeadProps) {
  return (
    <header className="mb-8 border-line border-b pb-6">
      {section === undefined ? null : <p className="mb-1 font-medium text-accent text-sm">{section}</p>}
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <h1 className="min-w-0 font-semibold text-3xl leading-9 tracking-tight [overflow-wrap:anywhere]">{title}</h1>
        <div className="flex items-center gap-3 text-sm">
          <CopyPage source={`${url}.md`} />
          <a href={`${url}.md`} className="text-ink-soft underline hover:text-ink">
            Markdown
          </a>
        </div>
      </div>
      <p className="mt-2 max-w-prose text-ink-soft leading-7">
        <Prose text={description ?? ""} />
      </p>
    </header>
  );
}
