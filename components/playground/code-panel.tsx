"use client";

import { generate, type RestCall, type StreamCall } from "#lib/docs/samples/index";
import { SampleBar, useShownSample } from "../docs/sample-bar";

/** Strings in any of the languages; the rest stays plain. */
const STRINGS = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/;

/** Code with its strings highlighted, because they contain the values of the form. */
function Code({ text }: { text: string }) {
  return text.split(STRINGS).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no other name
      <span key={index} className="token-string">
        {piece}
      </span>
    ),
  );
}

/** The call of the form as code, in the language that the reader last chose here or in the docs. */
export function CodePanel({ call }: { call: RestCall | StreamCall }) {
  const samples = generate(call);
  const shown = useShownSample(samples);
  if (shown === undefined) return null;
  return (
    <section aria-label="Code" className="min-w-0 overflow-hidden rounded-lg border border-line bg-sunken">
      <SampleBar label="Language" samples={samples} shown={shown} className="border-b bg-surface px-3">
        {shown.install === undefined ? null : (
          <code className="min-w-0 truncate font-mono text-ink-faint text-xs max-sm:hidden">{shown.install}</code>
        )}
      </SampleBar>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
        tabIndex={0}
        className="max-h-64 overflow-auto whitespace-pre-wrap p-4 [overflow-wrap:anywhere] font-mono text-[13px] leading-5.5"
      >
        <code>
          <Code text={shown.code} />
        </code>
      </pre>
    </section>
  );
}
