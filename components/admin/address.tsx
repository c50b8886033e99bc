import { Fragment } from "react";

/** A name or an email address, which breaks after its @ first, where a column has no room for it. */
export function Address({ children }: { children: string }) {
  const parts = children.split("@");
  return (
    <span className="[overflow-wrap:anywhere]">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text never move
        <Fragment key={index}>
          {index === 0 ? null : (
            <>
              @<wbr />
            </>
          )}
          {part}
        </Fragment>
      ))}
    </span>
  );
}
