"use client";

import { useEffect, useState } from "react";
import { Button } from "../ui/button";

const SAID_MS = 2_000;

/** Fetches a text and puts it on the clipboard; false where either is refused. */
async function copyFrom(address: string): Promise<boolean> {
  try {
    const response = await fetch(address);
    if (!response.ok) return false;
    await navigator.clipboard.writeText(await response.text());
    return true;
  } catch {
    // No network, or no clipboard: without TLS there is none but on loopback.
    return false;
  }
}

/** Copies the page as Markdown, and says whether it could. */
export function CopyPage({ source }: { source: string }) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => setSaid((await copyFrom(source)) ? "Copied" : "Open the Markdown");
  return (
    <Button onClick={copy} className="min-w-36">
      <span aria-live="polite">{said ?? "Copy as Markdown"}</span>
    </Button>
  );
}
