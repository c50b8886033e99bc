"use client";

import { useState } from "react";
import { Button } from "../ui/button";
import { saveFile } from "./save-file";

interface DownloadCsvProps {
  readonly operationId: string;
  readonly items: readonly object[];
}

/** Saves the records of an answer as the file that the service sends with `format=csv`, without another call. */
export function DownloadCsv({ operationId, items }: DownloadCsvProps) {
  const [failed, setFailed] = useState(false);

  async function download(): Promise<void> {
    try {
      // Loaded on demand: it takes the contract, which the page does not need before.
      const { csvFileOf } = await import("./csv-file");
      const file = csvFileOf(operationId, items);
      setFailed(file === undefined);
      if (file !== undefined) saveFile(file, `${operationId}.csv`);
    } catch {
      setFailed(true);
    }
  }

  return (
    <Button onClick={download}>
      <span aria-live="polite">{failed ? "Download failed. Try again" : "Download CSV"}</span>
    </Button>
  );
}
