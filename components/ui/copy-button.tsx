"use client";

import { useEffect, useState } from "react";
import { Button } from "./button";

const SAID_MS = 2_000;

interface CopyButtonProps {
  /** The text, or a function that fetches it; when that fails, nothing is copied. */
  readonly text: string | (() => Promise<string>);
  readonly label?: string;
  /** The hint when copying failed. */
  readonly refused?: string;
  readonly className?: string;
}

async function copied(text: CopyButtonProps["text"]): Promise<boolean> {
  try {
    // Without TLS the clipboard is only available on loopback.
    await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
    return true;
  } catch {
    return false;
  }
}

/** Copies a text to the clipboard and shows for a moment whether it worked. */
export function CopyButton({ text, label = "Copy", refused = "Select and copy", className = "min-w-20" }: CopyButtonProps) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => setSaid((await copied(text)) ? "Copied" : refused);
  return (
    <Button onClick={copy} className={className}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}
