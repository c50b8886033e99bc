"use client";

import { useEffect, useState } from "react";
import { Button } from "./button";

const SAID_MS = 2_000;

/** Puts a text on the clipboard and says so for a moment; says so too where the browser refuses. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    // Without TLS there is no clipboard but on loopback.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(done ? "Copied" : "Select and copy");
  };
  return (
    <Button onClick={copy} className="min-w-20">
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}
