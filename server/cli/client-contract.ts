import ts from "typescript";

/** A type of the contract by the name it is published under, and the schema that describes its fields, where there is one. */
export interface ContractType {
  readonly name: string;
  readonly type: ts.Type;
  /** What the type's own comment says. */
  readonly comment: string;
  readonly schema: unknown;
}

/** What of a zod schema is read: its words and its parts. */
interface Described {
  readonly description?: string;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly element?: unknown;
  unwrap?(): unknown;
}

const described = (schema: unknown): Described => (typeof schema === "object" && schema !== null ? (schema as Described) : {});

/** The words of a schema; those of an optional or nullable one may stand inside. */
function wordsOf(schema: unknown): string {
  const { description, unwrap } = described(schema);
  if (description !== undefined) return description;
  return unwrap === undefined || described(schema).element !== undefined ? "" : wordsOf(described(schema).unwrap?.());
}

/** The schema of an object behind what is wrapped around it. */
function objectOf(schema: unknown): Described {
  const one = described(schema);
  if (one.shape !== undefined) return one;
  const inner = one.element ?? one.unwrap?.();
  return inner === undefined || inner === schema ? {} : objectOf(inner);
}

/** A comment as it stands above a declaration; empty for no words. */
function comment(words: string, indent: string): string {
  if (words === "") return "";
  return `${indent}/** ${words.replaceAll("*/", "*\\/").replace(/\s*\n\s*/g, " ")} */\n`;
}

/** Prints types that were inferred from schemas as the plain declarations a reader would have written. */
interface ContractPrinter {
  /** An exported declaration. */
  declaration(type: ContractType): string;
}

/**
 * Makes a printer. A type that has a name of its own (Quote inside QuoteMessage) is printed by that name.
 * @param named every type that is published under a name
 */
export function createContractPrinter(checker: ts.TypeChecker, named: readonly ContractType[]): ContractPrinter {
  const same = (a: ts.Type, b: ts.Type) => checker.isTypeAssignableTo(a, b) && checker.isTypeAssignableTo(b, a);
  const isObject = (type: ts.Type) => (type.flags & ts.TypeFlags.Object) !== 0 && !checker.isArrayType(type);

  function nameOf(type: ts.Type): string | undefined {
    if (!isObject(type) && !type.isUnion()) return undefined;
    return named.find((one) => one.type.flags === type.flags && same(one.type, type))?.name;
  }

  function members(type: ts.Type, schema: unknown, indent: string): string {
    const { shape } = objectOf(schema);
    const lines = checker.getPropertiesOfType(type).map((property) => {
      const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      const field = shape?.[property.name];
      const text = print(checker.getTypeOfSymbol(property), field, `${indent}  `);
      return `${comment(wordsOf(field), `${indent}  `)}${indent}  ${property.name}${optional ? "?" : ""}: ${text};\n`;
    });
    const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (index !== undefined) lines.push(`${indent}  [key: string]: ${print(index, undefined, `${indent}  `)};\n`);
    return `{\n${lines.join("")}${indent}}`;
  }

  /** Null and undefined last, as they are written; what stands before them may have a name. */
  function union(type: ts.UnionType, schema: unknown, indent: string): string {
    const isEmpty = (part: ts.Type) => (part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0;
    const empty = type.types.filter(isEmpty).map((part) => checker.typeToString(part));
    const whole = checker.getNonNullableType(type);
    const name = empty.length > 0 ? nameOf(whole) : undefined;
    const parts = type.types.filter((part) => !isEmpty(part)).map((part) => print(part, schema, indent));
    return [...(name === undefined ? parts : [name]), ...empty].join(" | ").replace("false | true", "boolean");
  }

  function print(type: ts.Type, schema: unknown, indent: string): string {
    const name = nameOf(type);
    if (name !== undefined) return name;
    if (checker.isArrayType(type)) {
      const [element] = checker.getTypeArguments(type as ts.TypeReference);
      if (element === undefined) throw new Error("An array without an element type.");
      const text = print(element, described(schema).element ?? objectOf(schema), indent);
      return text.includes(" | ") ? `(${text})[]` : `${text}[]`;
    }
    if (type.isUnion()) return union(type, schema, indent);
    return isObject(type)
      ? members(type, schema, indent)
      : checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  }

  return {
    declaration({ name, type, comment: words, schema }) {
      const head = comment(words || wordsOf(schema), "");
      if (isObject(type)) return `${head}export interface ${name} ${members(type, schema, "")}\n`;
      return `${head}export type ${name} = ${type.isUnion() ? union(type, schema, "") : print(type, schema, "")};\n`;
    },
  };
}
