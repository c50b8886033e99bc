import { Button } from "./button";

/** A button that loads the next older page; nothing when there is none. */
export function Older({ busy, more, children }: { busy: boolean; more: (() => void) | undefined; children: string }) {
  if (more === undefined) return null;
  return (
    <div className="mt-4 flex justify-center">
      <Button busy={busy} onClick={more}>
        {children}
      </Button>
    </div>
  );
}
