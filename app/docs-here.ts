import { type Docs, docsOf } from "#lib/docs/source";
import { brandHere } from "./brand";

/** The documentation as this installation shows it. Only what shows docs imports it: it loads every page of them. */
export const docsHere = (): Docs => docsOf(brandHere());
