import { FILE_TYPES, type FileType } from "#lib/contract/files";
import { TICKER_MAX_CHARACTERS, TICKER_MIN_CHARACTERS } from "#lib/contract/limits";
import { SIDES, type Side } from "#lib/domain/columns";
import { SECOND_MS } from "#lib/units";
import type { FileChoice, FileSource, FileView } from "./file-source";

/** 64 bits of the hash: no two files of a period meet. */
const REVISION_CHARACTERS = 16;
const DATE_CHARACTERS = { day: 10, month: 7 } as const satisfies Record<FileSource["period"], number>;
const ID = new RegExp(
  `^(?<type>${FILE_TYPES.join("|")})-(?<ticker>[A-Z0-9]{${TICKER_MIN_CHARACTERS},${TICKER_MAX_CHARACTERS}})-(?<date>\\d{4}-\\d{2}(?:-\\d{2})?)(?:-(?<price>${Object.keys(SIDES).join("|")}))?(?:-at(?<asOf>\\d{1,12}))?(?:-(?<revision>[0-9a-f]{${REVISION_CHARACTERS}}))?$`,
);

/** Which file an id means. */
export interface FileId extends FileChoice {
  readonly type: FileType;
  readonly ticker: string;
  /** The date of the start of its period, as it stands in the id. */
  readonly date: string;
}

/** The date of the start of a period, as it stands in ids and names of files. */
export function dateOf(start: number, period: FileSource["period"]): string {
  return new Date(start * SECOND_MS).toISOString().slice(0, DATE_CHARACTERS[period]);
}

/** What a view adds to ids and names of files. */
export const viewText = ({ price, asOf }: FileView): string =>
  [price, asOf === undefined ? undefined : `at${asOf}`].map((part) => (part === undefined ? "" : `-${part}`)).join("");

export const revisionOfFile = (sha256: string) => sha256.slice(0, REVISION_CHARACTERS);

/** Reads an id; undefined for a text that is none. */
export function readFileId(text: string): FileId | undefined {
  const { type, ticker = "", date = "", price, asOf, revision } = ID.exec(text)?.groups ?? {};
  const start = Date.parse(date) / SECOND_MS;
  const isView = price !== undefined || asOf !== undefined;
  if (type === undefined || Number.isNaN(start) || (isView && (type === "ticks" || revision !== undefined))) return undefined;
  const view = { price: price as Side | undefined, asOf: asOf === undefined ? undefined : Number(asOf) };
  return { type: type as FileType, ticker, date, start, revision, ...view };
}
