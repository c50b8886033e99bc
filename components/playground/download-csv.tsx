"use client";

import { CSV_MEDIA, csvOf } from "#lib/contract/csv";
import { OPERATION_LIST } from "#lib/contract/operations";
import { Button } from "../ui/button";

interface DownloadCsvProps {
  readonly operationId: string;
  readonly items: readonly object[];
}

/** Saves the records of an answer as the file that the service sends with `format=csv`, without another call. */
export function DownloadCsv({ operationId, items }: DownloadCsvProps) {
  const operation = OPERATION_LIST.find(({ id }) => id === operationId);
  const table = operation && csvOf(operation);
  if (table === undefined) return null;

  function save(text: string): void {
    const url = URL.createObjectURL(new Blob([text], { type: CSV_MEDIA }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${operationId}.csv`;
    link.click();
    URL.revokeObjectURL(url);
  }

  return <Button onClick={() => save(table.text(items))}>Download CSV</Button>;
}
