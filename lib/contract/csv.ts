import { z } from "zod";
import { SECOND_MS } from "#lib/units";
import type { Operation } from "./operation";
import { TIME_UNITS } from "./primitives";

export const CSV_MEDIA = "text/csv";
export const LINES_MEDIA = "application/x-ndjson";

const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

type Item = Readonly<Record<string, unknown>>;

interface Column {
  readonly name: string;
  /** The text of its cell, escaped. */
  readonly cell: (item: Item | undefined) => string;
}

/** The items of an operation as a table. */
export interface CsvTable {
  readonly columns: readonly string[];
  /** A header row and a row for each item, by RFC 4180. */
  text(items: readonly object[]): string;
  /** The same text in parts of `rowsCount` rows that are made one at a time. */
  parts(items: Sliceable, rowsCount: number): Iterable<string>;
}

/** Items that exist only a few at a time. */
interface Sliceable {
  readonly length: number;
  slice(from: number, to: number): readonly object[];
}

/** Escapes a text for a cell. A leading quote keeps a spreadsheet from running a text that looks like a formula. */
export function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A value as a cell. Only texts can look like formulas: a number may well begin with a minus. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return csvCell(value.join(" "));
  return typeof value === "string" ? csvCell(value) : String(value);
}

/** A time in seconds without fractions, one in milliseconds with three. */
function isoCell(value: unknown, unit: "s" | "ms"): string {
  if (typeof value !== "number") return "";
  return unit === "ms" ? new Date(value).toISOString() : new Date(value * SECOND_MS).toISOString().replace(".000Z", "Z");
}

function plain(schema: unknown): z.ZodType {
  const optional = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional;
  return optional ? plain(schema.unwrap()) : (schema as z.ZodType);
}

/** The most elements that a list can have; undefined for one without a bound. */
function boundOf({ def }: z.ZodArray): number | undefined {
  const bound = def.checks?.map(({ _zod: check }) => check.def).find(({ check }) => check === "max_length");
  return (bound as z.core.$ZodCheckMaxLengthDef | undefined)?.maximum;
}

/** The columns of the objects in a list, numbered from 1 up to the most it can have: `legs_1_ticker`. */
function listColumns(name: string, list: z.ZodArray, element: z.ZodObject): Column[] {
  const maximum = boundOf(list);
  if (maximum === undefined) throw new Error(`${name} has no bound, so it has no columns.`);
  return Array.from({ length: maximum }, (_, index) =>
    columnsOf(element).map(({ name: inner, cell }) => ({
      name: `${name}_${index + 1}_${inner}`,
      cell: (item: Item | undefined) => cell((item?.[name] as readonly Item[] | undefined)?.[index]),
    })),
  ).flat();
}

function columnsOf(schema: z.ZodObject): Column[] {
  return Object.entries(schema.shape).flatMap(([name, field]): Column[] => {
    const type = plain(field);
    if (type instanceof z.ZodArray && type.element instanceof z.ZodObject) return listColumns(name, type, type.element);
    const column: Column = { name, cell: (item) => cellOf(item?.[name]) };
    const unit = TIME_UNITS.get(type)?.unit;
    if (unit === undefined) return [column];
    return [column, { name: `${name.replace(/_msc$/, "")}_utc`, cell: (item) => isoCell(item?.[name], unit) }];
  });
}

/**
 * How the items of an operation are written as CSV: their fields in the order of the contract, an ISO 8601 time beside each Unix
 * time, a list of texts with blanks between them, an empty cell for null. Undefined for an operation that is not offered as CSV.
 */
export function csvOf({ data, query }: Pick<Operation, "data" | "query">): CsvTable | undefined {
  if (!("format" in query) || !(data instanceof z.ZodObject)) return undefined;
  const { element } = data.shape.items as z.ZodArray;
  const columns = columnsOf(element as z.ZodObject);
  const names = columns.map(({ name }) => name);
  const lineOf = (item: object) => `${columns.map(({ cell }) => cell(item as Item)).join(",")}\r\n`;
  function* parts(items: Sliceable, rowsCount: number) {
    let text = `${names.join(",")}\r\n`;
    for (let start = 0; start < items.length; start += rowsCount) {
      yield text +
        items
          .slice(start, start + rowsCount)
          .map(lineOf)
          .join("");
      text = "";
    }
    if (text !== "") yield text;
  }
  return { columns: names, parts, text: (items) => [...parts(items, items.length)].join("") };
}
