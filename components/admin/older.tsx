import { Button } from "../ui/button";

/** Reads the next older page, where there is one. */
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
