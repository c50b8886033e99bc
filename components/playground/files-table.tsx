"use client";

import { useState } from "react";
import type { RestCall } from "#lib/docs/samples/call";
import { FILE_READERS } from "#lib/docs/samples/file-readers";
import type { DataFile } from "#lib/operations/files/declaration";
import { isoDate, SECOND_MS } from "#lib/units";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { countText, sizeText } from "../portal/numbers";
import { Button } from "../ui/button";
import { CopyButton } from "../ui/copy-button";
import { Segmented } from "../ui/segmented";
import { type Column, Table } from "../ui/table";
import { downloadFile } from "./download-file";

interface FilesTableProps {
  readonly files: readonly DataFile[];
  /** Address and key of the code. */
  readonly target: Pick<RestCall, "base" | "key">;
  readonly bearers: Bearers;
  readonly credential: Credential | undefined;
}

const dayOf = (seconds: number) => isoDate(seconds * SECOND_MS);

/** The files of a list, each to be downloaded here, or with the lines that read it in a program of the reader's choice. */
export function FilesTable({ files, target: { base, key }, bearers, credential }: FilesTableProps) {
  const [busy, setBusy] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [chosen, setChosen] = useState(FILE_READERS[0].id);
  const reader = FILE_READERS.find(({ id }) => id === chosen) ?? FILE_READERS[0];
  const linesOf = ({ url }: DataFile) => reader.generate({ operation: { method: "GET", path: url }, parameters: {}, base, key });
  async function download({ id, url }: DataFile): Promise<void> {
    if (credential === undefined) return;
    setBusy(id);
    setProblem(await downloadFile(url, bearers, credential));
    setBusy(undefined);
  }
  const columns: Column<DataFile>[] = [
    {
      head: "From (UTC)",
      cell: ({ from }) => (
        <time dateTime={dayOf(from)} className="whitespace-nowrap">
          {dayOf(from)}
        </time>
      ),
    },
    {
      head: "Rows",
      numeric: true,
      from: "sm",
      cell: ({ rows, complete }) => (complete ? (rows === null ? "–" : countText(rows)) : "not complete"),
    },
    { head: "Size", numeric: true, cell: ({ bytes }) => (bytes === null ? "–" : sizeText(bytes)) },
    {
      head: "File",
      cell: (file) => (
        <Button
          onClick={() => void download(file)}
          busy={busy === file.id}
          disabled={busy !== undefined && busy !== file.id}
          aria-label={`Download the file of ${dayOf(file.from)}`}
        >
          Download
        </Button>
      ),
    },
    {
      head: reader.label,
      from: "sm",
      grow: true,
      cell: (file) => (
        <div className="flex min-w-0 items-center gap-3">
          <CopyButton text={linesOf(file)} label="Copy code" className="min-w-24 shrink-0" />
          <code className="min-w-0 max-w-56 truncate font-mono text-ink-faint text-xs max-md:hidden" title={linesOf(file)}>
            {linesOf(file).split("\n").at(-1)}
          </code>
        </div>
      ),
    },
  ];
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Segmented
          legend="Program"
          choices={FILE_READERS.map(({ id, label }) => ({ value: id, label }))}
          value={reader.id}
          onChange={setChosen}
        />
        {reader.install === undefined ? null : <code className="font-mono text-ink-faint text-xs">{reader.install}</code>}
      </div>
      {problem === undefined ? null : (
        <p role="alert" className="text-danger text-sm leading-6">
          {problem}
        </p>
      )}
      <Table caption="Files" columns={columns} rows={files} rowKey={({ id }) => id} empty="There are no files in this range." />
    </div>
  );
}
