import Link from "next/link";
import { Children, type ComponentProps, isValidElement, type ReactElement, type ReactNode } from "react";
import { Card, Cards, Steps } from "./cards";
import { CodeTabs } from "./code-tabs";
import { Diagram } from "./diagrams/diagram";
import { PageViews } from "./page-views";
import { FollowingCopyButton, FollowingText } from "./sample-call";
import { textOf, withTexts } from "./texts";

/** Links to pages of the portal go through the router; links to documents and other sites do not. */
const PAGE = /^\/(?!.*\.\w+$)/;

function Anchor({ href = "", children, isHidden }: ComponentProps<"a"> & Pick<Changes, "isHidden">) {
  if (isHidden(href)) return children;
  if (!PAGE.test(href)) return <a href={href}>{children}</a>;
  return (
    <Link prefetch={false} href={href}>
      {children}
    </Link>
  );
}

function heading(Tag: "h2" | "h3" | "h4") {
  return function Heading({ id, children }: ComponentProps<"h2">) {
    return (
      <Tag id={id}>
        <a href={`#${id}`}>{children}</a>
      </Tag>
    );
  };
}

function Table(props: ComponentProps<"table">) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
    <section aria-label="Table" tabIndex={0} className="table">
      <table {...props} />
    </section>
  );
}

const CALLOUTS = { info: "Note", warn: "Warning" } as const;

function Callout({ type = "info", children }: { type?: keyof typeof CALLOUTS; children: ReactNode }) {
  return (
    <aside className="callout" data-type={type} aria-label={CALLOUTS[type]}>
      {children}
    </aside>
  );
}

function Tab({ children }: { value: string; children: ReactNode }) {
  return children;
}

/** What the elements inside another one were given. */
const propsOf = <Props,>(children: ReactNode): Props[] =>
  Children.toArray(children)
    .filter((child): child is ReactElement<Props> => isValidElement(child))
    .map(({ props }) => props);

function Tabs({ children }: { children: ReactNode }) {
  const tabs = propsOf<ComponentProps<typeof Tab>>(children);
  return <CodeTabs tabs={tabs.map(({ value, children: content }) => ({ language: value, content }))} />;
}

function View({ children }: { title: string; children: ReactNode }) {
  return children;
}

function Views({ children }: { children: ReactNode }) {
  const views = propsOf<ComponentProps<typeof View>>(children);
  return <PageViews views={views.map(({ title, children: content }) => ({ title, content }))} />;
}

interface Changes {
  /** Puts the reader's address and key into code. */
  readonly words: (text: string) => string;
  /** The call that code follows when the form of the page changes, as path and query. */
  readonly call: string | undefined;
  /** Whether a link leads to a page that this installation does not show: of such a link the words stay. */
  readonly isHidden: (href: string) => boolean;
}

interface CodeProps extends ComponentProps<"pre"> {
  readonly changes: Pick<Changes, "words" | "call">;
}

/** Code with this reader's address and key, and with the call of the form. */
function Code({ changes: { words, call }, title, children }: CodeProps) {
  const shown = withTexts(children, words);
  const follow = (text: string) => (call !== undefined && text.includes(call) ? <FollowingText text={text} /> : text);
  return (
    <figure className="code">
      {title === undefined ? null : <figcaption>{title}</figcaption>}
      <div className="code-copy">
        <FollowingCopyButton text={textOf(shown)} className="min-h-7! min-w-16 px-2! text-xs!" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard */}
      <pre tabIndex={0}>{withTexts(shown, follow)}</pre>
    </figure>
  );
}

/** A picture of a guide. All have one size, so that the text below stays in place while it loads. */
function Picture({ src, alt }: ComponentProps<"img">) {
  return (
    // biome-ignore lint/performance/noImgElement: it is small, and has the size at which it is shown on a dense screen
    <img src={src} alt={alt} width={1440} height={720} loading="lazy" className="rounded-md border border-line" />
  );
}

/** The components of a page. */
export function mdxComponents(changes: Changes) {
  return {
    a: (props: ComponentProps<"a">) => <Anchor {...props} isHidden={changes.isHidden} />,
    h2: heading("h2"),
    h3: heading("h3"),
    h4: heading("h4"),
    pre: (props: ComponentProps<"pre">) => <Code {...props} changes={changes} />,
    code: ({ children }: ComponentProps<"code">) => withTexts(<code>{children}</code>, changes.words),
    img: Picture,
    table: Table,
    Callout,
    Tab,
    Tabs,
    View,
    Views,
    // biome-ignore lint/correctness/noComponentHookFactories: rendered once, on the server, and without state
    Card: (props: ComponentProps<typeof Card>) => (changes.isHidden(props.href) ? null : <Card {...props} />),
    Cards,
    Steps,
    Diagram,
  };
}
