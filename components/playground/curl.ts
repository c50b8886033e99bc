import { OPERATION_PARAMETER, type PlayOperation, type RestOperation, type Values } from "./model";
import { readLink } from "./share";

/** Longest command that is read. */
export const CURL_MAX_CHARACTERS = 10_000;

/** Options with a value that says nothing about the call here. */
const SKIPPED = new Set(
  "-o --output -w --write-out -m --max-time --connect-timeout -A --user-agent -e --referer -b --cookie -c --cookie-jar -u --user --retry -x --proxy --cacert -D --dump-header --resolve".split(
    " ",
  ),
);
const DATA = new Set("-d --data --data-raw --data-binary --data-ascii --json".split(" "));
const SHORT_WITH_VALUE = /^-([HXdowmAebcuxD])(.+)$/s;
/** Several switches in one, as in -sSG. */
const SWITCHES = /^-[a-zA-Z]+$/;

/** What a command asks for. */
interface CurlCall {
  readonly url: string;
  readonly method: string;
  /** Parts of a query, as they are sent. */
  readonly query: readonly string[];
  readonly hasBody: boolean;
}

/** A command as the form takes it, or why it cannot. */
export type CurlImport =
  | { readonly operation: RestOperation; readonly values: Values; readonly notices: readonly string[] }
  | { readonly problem: string };

const DOUBLE_QUOTED = /\\(["\\$`\n])/g;
const WORD_PART = /\$'((?:[^'\\]|\\.)*)'|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(\n|\r\n)|\\(.)|([^\s'"\\]+)|(\s+)/gsy;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
const ansi = (text: string) => text.replace(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);

/** The words of a command, as a shell reads them; undefined when a quote is not closed. Variables stay as they are written. */
export function shellWords(command: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let end = 0;
  for (const match of command.matchAll(WORD_PART)) {
    if (match.index !== end) return undefined;
    end += match[0].length;
    const [, dollar, single, double, newline, escaped, plain, space] = match;
    if (space !== undefined || newline !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    const part = dollar === undefined ? (single ?? double?.replace(DOUBLE_QUOTED, "$1") ?? escaped ?? plain) : ansi(dollar);
    word = (word ?? "") + part;
  }
  if (end !== command.length) return undefined;
  return word === undefined ? words : [...words, word];
}

/** One argument of --data-urlencode as a part of a query: `name=text`, `=text` or `text`. */
function encoded(argument: string): string {
  const at = argument.indexOf("=");
  const name = at > 0 ? `${argument.slice(0, at)}=` : "";
  return name + encodeURIComponent(argument.slice(at + 1));
}

/** Options in the form `-H value`, whether they were written `-Hvalue`, `--url=value` or so. */
function separated(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const short = SHORT_WITH_VALUE.exec(word);
    if (short !== null) return [`-${short[1]}`, short[2] ?? ""];
    const long = /^(--[a-z-]+)=(.*)$/s.exec(word);
    return long === null ? [word] : [long[1] ?? "", long[2] ?? ""];
  });
}

function callOf(words: readonly string[]): CurlCall {
  const list = separated(words);
  const query: string[] = [];
  let [url, method, get, body] = ["", "", false, false];
  for (let index = 1; index < list.length; index += 1) {
    const word = list[index] ?? "";
    const value = () => {
      index += 1;
      return list[index] ?? "";
    };
    if (word === "-X" || word === "--request") method = value().toUpperCase();
    else if (word === "--url") url = value();
    else if (word === "-G" || word === "--get") get = true;
    else if (word === "--data-urlencode") query.push(encoded(value()));
    else if (DATA.has(word)) query.push(value());
    else if (word === "-H" || word === "--header" || SKIPPED.has(word)) value();
    else if (!word.startsWith("-")) url = word;
    else if (SWITCHES.test(word) && !word.startsWith("--")) get ||= word.includes("G");
  }
  body = !get && query.length > 0;
  return { url, method: method || (body ? "POST" : "GET"), query: get ? query : [], hasBody: body };
}

/** The query of a URL and of options: a parameter that is there several times is a list. */
function parametersOf(search: string): Readonly<Record<string, string>> {
  const parameters = new URLSearchParams(search);
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name).join(",")]));
}

function pathAndQuery(url: string): URL | undefined {
  const whole = /^[a-z]+:\/\//i.test(url) ? url : `http://${url}`;
  return URL.canParse(whole) ? new URL(whole) : undefined;
}

/**
 * Reads a curl command as a call of the playground. Only the operation and its parameters are taken: headers, and the key in them,
 * are left out.
 */
export function readCurl(operations: readonly PlayOperation[], text: string): CurlImport {
  if (text.length > CURL_MAX_CHARACTERS) return { problem: `The command is longer than ${CURL_MAX_CHARACTERS} characters.` };
  const words = shellWords(text.trim().replace(/^\$\s+/, ""));
  if (words === undefined) return { problem: "A quote in the command is not closed." };
  if (words[0] !== "curl") return { problem: "A command starts with curl." };
  const call = callOf(words);
  const url = call.url === "" ? undefined : pathAndQuery(call.url);
  if (url === undefined) return { problem: "The command has no URL." };
  if (call.hasBody) return { problem: "Calls with a body can't be sent here. For a query, add -G." };
  const isCall = (operation: PlayOperation): operation is RestOperation =>
    operation.method === call.method && operation.path === url.pathname;
  const operation = operations.find(isCall);
  if (operation === undefined) return { problem: `${call.method} ${url.pathname} is not a call of the playground.` };
  const search = [url.search.slice(1), ...call.query].filter((part) => part !== "").join("&");
  const link = { ...parametersOf(search), [OPERATION_PARAMETER]: operation.id };
  const { values, notices } = readLink(operations, operation, link);
  return { operation, values, notices };
}
