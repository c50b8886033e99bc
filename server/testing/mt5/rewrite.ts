/** What MQL5 has and C++ has not. Lines stay where they are. */

/** Makes MQL5 readable for a C++ parser: the four things that its grammar does not know. */
export function toParsable(source: string): string {
  return source
    .replace(/^[ \t]*#(?:property|import)\b.*$/gm, "")
    .replace(/^[ \t]*input[ \t]+group\b.*$/gm, "")
    .replace(/^([ \t]*)(?:s?input)\b/gm, "$1static")
    .replace(/\b[DC]'[^'\n]*'/g, "0");
}

/** Makes MQL5 compilable as C++: its dynamic arrays too. */
function toCompilable(source: string): string {
  return toParsable(source)
    .replace(/\b(\w+) &(\w+)\[\]/g, "Array<$1> &$2")
    .replace(/^([ \t]*)(\w+)([ \t]+)(\w+)\[\];/gm, "$1Array<$2>$3$4;");
}

/** A program of several versions of an Expert Advisor, by name, for terminal.cpp. */
export function toProgram(versions: Readonly<Record<string, string>>): string {
  const parts = Object.entries(versions).map(([name, source]) => {
    const inputs = [...source.matchAll(/^input \w+ (\w+) =/gm)].map(([, input]) => input);
    const set = inputs.map((input) => `if (name == "${input}") return assignInput(${input}, value), true;`);
    return `namespace ${name} {
${toCompilable(source)}
bool setInput(const string &name, const string &value) {
  ${set.join("\n  ")}
  return false;
}
}`;
  });
  const table = Object.keys(versions).map(
    (name) => `{"${name}", {${name}::OnInit, ${name}::OnTimer, ${name}::OnDeinit, ${name}::setInput}}`,
  );
  return `#include "mql5.h"\n${parts.join("\n")}\nstd::map<string, Advisor> advisors = {${table.join(", ")}};\n#include "terminal.cpp"\n`;
}
