import type { MarketEvent } from "#server/events/event";
import type { Entry, Newest, NewestEvent } from "./cursor";
import {
  CLOSED_KEPT_COUNT,
  CLOSED_SUFFIX,
  createRowReader,
  Header,
  type Row,
  STATE_COLUMNS,
  STATE_HEADER,
  STATE_ID,
} from "./wire";

/** An entry with its id in Redis. */
export interface Batch extends Entry {
  readonly id: string;
}

/** The newest records, up to and including a batch. */
interface State extends Newest {
  /** The id of the batch. */
  readonly id: string;
}

interface Message {
  readonly id: string;
  readonly message: Readonly<Record<string, string>>;
}

/** Decodes what publishers wrote. */
interface EventReader {
  /** Decodes a batch of the stream; undefined when it is not a valid batch. */
  batch(message: Message): Batch | undefined;
  /** Decodes the newest records from the fields of their hash; undefined when there are none. */
  state(fields: Readonly<Record<string, string>>): State | undefined;
}

/** The records of a field; none when the field cannot be decoded, so that the other fields still count. */
function recordsOf(field: string, text: string, read: (row: Row) => MarketEvent): NewestEvent[] {
  try {
    const isClosed = field.endsWith(CLOSED_SUFFIX);
    const rows = (isClosed ? JSON.parse(text) : [JSON.parse(text)]) as Row[];
    const forgetful = isClosed && rows.length >= CLOSED_KEPT_COUNT;
    return rows.map((row, index) => ({ event: read(row), complete: !forgetful || index > 0 }));
  } catch {
    return [];
  }
}

/** Makes a reader; it caches the last columns it saw, which change only with a release. */
export function createEventReader(): EventReader {
  let known: { text: string; read: ReturnType<typeof createRowReader> } | undefined;

  function readerOf(columns: string): ReturnType<typeof createRowReader> {
    if (known?.text !== columns) known = { text: columns, read: createRowReader(columns) };
    return known.read;
  }

  return {
    batch({ id, message }) {
      try {
        const header = Header.parse(JSON.parse(message.header ?? ""));
        const read = readerOf(message.columns ?? "");
        const rows = JSON.parse(message.events ?? "") as Row[];
        return { id, header, events: rows.map((row) => read(row, header.epoch)) };
      } catch {
        return undefined;
      }
    },
    state(fields) {
      const { [STATE_ID]: id, [STATE_HEADER]: headerText, [STATE_COLUMNS]: columns, ...topics } = fields;
      if (id === undefined || headerText === undefined || columns === undefined) return undefined;
      try {
        const header = Header.parse(JSON.parse(headerText));
        const read = readerOf(columns);
        const events = Object.entries(topics).flatMap(([field, text]) =>
          recordsOf(field, text, (row) => read(row, header.epoch)),
        );
        return { id, header, events: events.sort((one, other) => one.event.seq - other.event.seq) };
      } catch {
        return undefined;
      }
    },
  };
}
