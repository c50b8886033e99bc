import { readOptions, USAGE, UsageError } from "./options";
import { report } from "./report";
import { simulate } from "./simulation";
import { sizeFor } from "./sizing";

const EXIT_BROKEN = 1;
const EXIT_USAGE = 2;

/** `npm run simulate`: see USAGE. */
function main(args: readonly string[]): number {
  const options = readOptions(args);
  if (options === undefined) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const { scene, target } = options;
  const result = simulate(scene);
  process.stdout.write(
    `${report(result, sizeFor(result, target), target)}\nNode ${process.version}, ${new Date().toISOString()}\n`,
  );
  const { count, told } = result.complaints;
  if (count === 0) return 0;
  process.stderr.write(`${count} times a client did not get what it should:\n${told.map((line) => `  ${line}\n`).join("")}`);
  return EXIT_BROKEN;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message} See npm run simulate -- --help.\n`);
  process.exitCode = EXIT_USAGE;
}
