"use client";

import { CopyButton } from "../ui/copy-button";

async function textAt(address: string): Promise<string> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.text();
}

/** Copies the page as Markdown and reports whether it worked. */
export function CopyPage({ source }: { source: string }) {
  return <CopyButton text={() => textAt(source)} label="Copy as Markdown" refused="Open the Markdown" className="min-w-36" />;
}
