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
