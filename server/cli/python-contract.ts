import { CLOSES, PROTOCOL_CLOSES } from "#lib/contract/close-codes";
import { FailureData } from "#lib/contract/envelope";
import { ERROR_IDS, ERRORS, type ErrorId } from "#lib/contract/errors";
import { BASE62, KEY_RANDOM_CHARACTERS, keyChecksum } from "#lib/contract/key-text";
import { Kline } from "#lib/contract/kline";
import {
  FILE_ROWS_PER_COST_UNIT,
  KLINE_CLOSE_DELAY_MS,
  KLINES_MAX_LIMIT_ROWS,
  KLINES_ROWS_PER_COST_UNIT,
  STREAM_HEARTBEAT_INTERVAL_S,
  STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
  TICKER_MAX_CHARACTERS,
  TICKS_MAX_LIMIT_ROWS,
  TICKS_PER_COST_UNIT,
} from "#lib/contract/limits";
import { StreamName } from "#lib/contract/primitives";
import {
  HANDSHAKE_ERRORS,
  Heartbeat,
  MarketStatusMessage,
  STREAM_PATH,
  STREAM_PROTOCOL,
  STREAM_PROTOCOLS,
  TickerRejection,
  Welcome,
} from "#lib/contract/stream";
import { KlineMessage, QuoteMessage, SnapshotMessage } from "#lib/contract/stream-push";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { type JsonSchema, schemaPrinter } from "#lib/docs/json-schema";
import { pythonLiteral } from "#lib/docs/samples/literal";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { pythonTypes } from "./python-types";

/** What the Python client takes from the contract, as modules of Python. */

const INGEST_SCOPE = "market:ingest";
/** What a client reads, not what feeders push. */
const READING = OPERATION_LIST.filter(({ scope }) => scope !== INGEST_SCOPE);
const STREAMED = { Welcome, QuoteMessage, SnapshotMessage, KlineMessage, MarketStatusMessage, Heartbeat, TickerRejection };
/** The same in every row of a window, or its index. */
const NO_COLUMNS = new Set(["type", "ticker", "timeframe", "time"]);

const pascal = (id: string) => id.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The class of an error: `unknown_ticker` is UnknownTickerError. */
const classOf = (id: ErrorId) => `${pascal(id).replace(/Error$/, "")}Error`;

/** Errors that a reading client can meet. */
function metErrors(): ErrorId[] {
  const met = new Set<ErrorId>([...READING.flatMap(({ errors }) => errors), ...HANDSHAKE_ERRORS]);
  return ERROR_IDS.filter((id) => met.has(id));
}

function models(): string {
  const printer = schemaPrinter("draft-2020-12");
  const answers: Record<string, JsonSchema> = {};
  for (const { id, data, file } of READING) {
    if (file !== undefined) continue;
    const schema = printer.of(data);
    if (schema.$ref === undefined) answers[`${id.charAt(0).toUpperCase()}${id.slice(1)}Data`] = schema;
  }
  for (const schema of [...Object.values(STREAMED), FailureData]) printer.of(schema);
  return pythonTypes({ ...printer.named(), ...answers }, { ErrorId: ERROR_IDS });
}

function serviceErrors(): string {
  const ids = metErrors();
  const classes = ids.flatMap((id) => {
    const { title, cause, fix } = ERRORS[id];
    return [
      "",
      "",
      `class ${classOf(id)}(SpotwireError):`,
      `    ${JSON.stringify(`${title}. ${cause} ${fix}`)}`,
      "",
      `    ID = "${id}"`,
    ];
  });
  return [
    '"""One class for each error of the service."""',
    "",
    "from __future__ import annotations",
    "",
    "from ._error import SpotwireError",
    "",
    `__all__ = [${ids.map((id) => JSON.stringify(classOf(id))).join(", ")}]`,
    ...classes,
    "",
    "#: By identifier.",
    "SERVICE_ERRORS: dict[str, type[SpotwireError]] = {",
    ...ids.map((id) => `    "${id}": ${classOf(id)},`),
    "}",
    "",
  ].join("\n");
}

function closes(): string[] {
  const own = Object.values(CLOSES).map(({ code, after, meaning }) => ({ code, terminal: after === "terminal", meaning }));
  // The client broke the protocol and must be fixed.
  const protocol = Object.entries(PROTOCOL_CLOSES).map(([code, meaning]) => ({ code: Number(code), terminal: true, meaning }));
  return [...protocol, ...own].map(
    ({ code, terminal, meaning }) => `    ${code}: Close(${pythonLiteral(terminal)}, ${pythonLiteral(meaning)}),`,
  );
}

function values(version: string): string {
  const columns = Object.keys(Kline.shape).filter((name) => !NO_COLUMNS.has(name));
  const constants: Record<string, unknown> = {
    VERSION: version,
    USER_AGENT: `spotwire-client-python/${version}`,
    STREAM_PATH,
    STREAM_PROTOCOL,
    STREAM_PROTOCOL_MSGPACK: STREAM_PROTOCOLS.msgpack,
    TICKET_PROTOCOL_PREFIX,
    STREAM_NAMES: StreamName.options,
    KLINE_COLUMNS: columns,
    FILE_ROWS_PER_COST_UNIT,
    TIMEFRAME_S: TIMEFRAME_SECONDS,
    KLINE_CLOSE_DELAY_MS,
    KLINES_MAX_LIMIT_ROWS,
    KLINES_ROWS_PER_COST_UNIT,
    STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
    STREAM_HEARTBEAT_INTERVAL_S,
    TICKER_MAX_CHARACTERS,
    TICKS_MAX_LIMIT_ROWS,
    TICKS_PER_COST_UNIT,
    BASE62,
    KEY_RANDOM_CHARACTERS,
    KEY_CHECKSUM_CHARACTERS: keyChecksum("").length,
  };
  return [
    '"""Values of the contract."""',
    "",
    "from __future__ import annotations",
    "",
    "from typing import NamedTuple",
    "",
    "",
    "class Close(NamedTuple):",
    '    """How to go on after a close."""',
    "",
    "    terminal: bool",
    "    meaning: str",
    "",
    "",
    ...Object.entries(constants).map(([name, value]) => `${name} = ${pythonLiteral(value)}`),
    "#: Method and path of each operation.",
    "ENDPOINTS: dict[str, tuple[str, str]] = {",
    ...READING.map(({ id, method, path }) => `    "${id}": ("${method}", "${path}"),`),
    "}",
    "#: By close code; any other code means to reconnect.",
    "CLOSES: dict[int, Close] = {",
    ...closes(),
    "}",
    "",
  ].join("\n");
}

/** The generated modules of the package, by file name. */
export function pythonContract(version: string): Readonly<Record<string, string>> {
  return { "models.py": models(), "_service_errors.py": serviceErrors(), "_contract.py": values(version) };
}
