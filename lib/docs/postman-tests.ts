import { success } from "#lib/contract/envelope";
import type { Operation } from "#lib/contract/operation";
import { standaloneSchema } from "./json-schema";

/**
 * The tests of a request, as lines of a script of Postman. They hold with any key: what the key may read has the shape that the
 * contract promises, and what it may not is refused with an error that the operation declares.
 */
export function postmanTests(operation: Operation): readonly string[] {
  // The one that no key, and no state of the service, explains.
  const refusals = operation.errors.filter((id) => id !== "internal_error");
  if (operation.file !== undefined)
    return [
      `const refusals = ${JSON.stringify(refusals)};`,
      "const isFile = pm.response.code === 200;",
      'pm.test("The type is that of a file, or of a refusal", () => {',
      `  const type = isFile ? ${JSON.stringify(operation.file.mediaType)} : "application/json";`,
      '  pm.expect(pm.response.headers.get("Content-Type") ?? "").to.include(type);',
      "});",
      "if (isFile) {",
      '  pm.test("The file is not empty", () => pm.expect(pm.response.responseSize).to.be.above(0));',
      "} else {",
      '  pm.test("The refusal is a documented one, with its reason", () => {',
      "    const answer = pm.response.json();",
      "    pm.expect(answer.message).to.be.oneOf(refusals);",
      "    pm.expect(pm.response.code).to.equal(Math.floor(answer.code / 100));",
      '    pm.expect(answer.data.detail).to.be.a("string");',
      "  });",
      "}",
    ];
  return [
    `const refusals = ${JSON.stringify(refusals)};`,
    `const schema = ${JSON.stringify(standaloneSchema(success(operation.data)))};`,
    // Not `data`: Postman itself declares it.
    "const answer = pm.response.json();",
    'pm.test("The status matches the code", () => {',
    "  pm.expect(pm.response.code).to.equal(answer.code === 0 ? 200 : Math.floor(answer.code / 100));",
    "});",
    "if (answer.code === 0) {",
    '  pm.test("The response has the documented shape", () => pm.response.to.have.jsonSchema(schema));',
    "} else {",
    '  pm.test("The refusal is a documented one, with its reason", () => {',
    "    pm.expect(answer.message).to.be.oneOf(refusals);",
    '    pm.expect(answer.data.detail).to.be.a("string");',
    '    pm.expect(answer.data.request_id).to.equal(pm.response.headers.get("X-Request-Id"));',
    "  });",
    "}",
  ];
}
