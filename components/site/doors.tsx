import Link from "next/link";
import type { ReactNode } from "react";
import { buttonClass } from "../ui/button";
import { CodeBlock } from "../ui/code-block";

const BUTTON = "min-h-11 px-5";

interface DoorProps {
  readonly title: string;
  readonly text: string;
  readonly code: ReactNode;
  readonly links: ReactNode;
}

function Door({ title, text, code, links }: DoorProps) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col rounded-xl border border-line bg-surface p-5">
      <h2 className="font-semibold text-lg tracking-tight">{title}</h2>
      <p className="mt-1 text-ink-soft text-sm leading-6">{text}</p>
      <div className="mt-4 flex-1">{code}</div>
      <div className="mt-5 flex flex-wrap gap-3">{links}</div>
    </section>
  );
}

interface DoorsProps {
  /** Where this service runs. */
  readonly host: string;
  /** A call that can be pasted. */
  readonly call: string;
  readonly callLabel: string;
  /** The playground with the same call. */
  readonly playground: string;
  /** The way to keys of the reader. */
  readonly own: { readonly href: string; readonly label: string };
  /** Whether the page offers to run the service, and not its use alone. */
  readonly forOperators: boolean;
  /** The repository of the program. */
  readonly source: string | undefined;
}

/** The command that starts the service from its sources. */
function startCommand(source: string | undefined): string {
  if (source === undefined) return "npm ci --omit=dev && npm start";
  const folder = new URL(source).pathname
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .split("/")
    .at(-1);
  return `git clone ${source}\ncd ${folder} && npm ci --omit=dev && npm start`;
}

/** The two ways to begin: running the service, and using the one that shows this page. */
export function Doors({ host, call, callLabel, playground, own, forOperators, source }: DoorsProps) {
  return (
    <div className={`mt-8 grid gap-5 ${forOperators ? "lg:grid-cols-2" : "max-w-[44rem]"}`}>
      {forOperators ? (
        <Door
          title="Run it yourself"
          text={`For teams that want prices on their own machine, from their own provider. One command starts it, with PostgreSQL and a sandbox included. Free under the Apache License 2.0.${source === undefined ? " This installation names no place to download it: its operator can give you a copy, as the license allows." : ""}`}
          code={
            <CodeBlock
              label={
                source === undefined
                  ? "In the folder of your copy, with Node 20.19 or later"
                  : "You need only Node 20.19 or later"
              }
            >
              {startCommand(source)}
            </CodeBlock>
          }
          links={
            <>
              <Link
                prefetch={false}
                href="/docs/self-hosting"
                className={`${buttonClass("primary")} ${BUTTON} hover:brightness-110`}
              >
                Set it up
              </Link>
              {source === undefined ? null : (
                <a href={source} className={`${buttonClass("secondary")} ${BUTTON}`}>
                  Source code
                </a>
              )}
            </>
          }
        />
      ) : null}
      <Door
        title="Use this service"
        text={`For programs that need prices from ${host}. There is nothing to install: call it now, and create your own key when you need one.`}
        code={<CodeBlock label={callLabel}>{call}</CodeBlock>}
        links={
          <>
            <Link
              prefetch={false}
              href={playground}
              className={`${buttonClass(forOperators ? "secondary" : "primary")} ${BUTTON} ${forOperators ? "" : "hover:brightness-110"}`}
            >
              Open the playground
            </Link>
            <Link prefetch={false} href={own.href} className={`${buttonClass("secondary")} ${BUTTON}`}>
              {own.label}
            </Link>
          </>
        }
      />
    </div>
  );
}
