import ts from "typescript";
import { lineOf, readSources, type SourceFile, walk } from "./sources";

/** The end of `npm run check`: the longest files and functions. A report, because a long file that reads well may stay. */

const SHOWN_COUNT = 10;
/** Facts about the world are data, and data may be long. */
const DATA = ["lib/domain/calendars/", "lib/domain/catalogue/"];

interface Size {
  readonly place: string;
  readonly lines: number;
}

/** The outermost functions of a file; inner ones count as part of them. */
function functionsOf({ path, tree }: SourceFile): Size[] {
  const found: Size[] = [];
  walk(tree, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const [first, last] = [lineOf(tree, node), tree.getLineAndCharacterOfPosition(node.end).line + 1];
    if (found.every(({ place, lines }) => Number(place.split(":")[1]) + lines <= first))
      found.push({ place: `${path}:${first}`, lines: last - first + 1 });
  });
  return found;
}

function listed(title: string, sizes: readonly Size[]): string {
  const longest = sizes.toSorted((a, b) => b.lines - a.lines).slice(0, SHOWN_COUNT);
  return [title, ...longest.map(({ place, lines }) => `${String(lines).padStart(5)}  ${place}`), ""].join("\n");
}

const sources = readSources(process.cwd()).filter(
  ({ path, isTest }) => !isTest && !path.startsWith("e2e/") && !DATA.some((place) => path.startsWith(place)),
);
const files = sources.map(({ path, lineCount }) => ({ place: path, lines: lineCount }));
process.stdout.write(`${listed("Longest files, in lines:", files)}${listed("Longest functions:", sources.flatMap(functionsOf))}`);
