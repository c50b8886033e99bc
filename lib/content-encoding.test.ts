import { describe, expect, test } from "vitest";
import { encodingFor, heldTag, tagIn } from "./content-encoding";

describe("the coding of an answer", () => {
  test.each([
    ["br", "br"],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0.5, gzip", "gzip"],
    ["br;q=0.5, gzip;q=0.4", "br"],
    ["br;q=0, gzip", "gzip"],
    ["br;q=0.000, *", "gzip"],
    ["*", "br"],
    ["*;q=0.1", "br"],
    ["identity;q=0, *", "br"],
  ])("Accept-Encoding %j gets %s", (header, encoding) => expect(encodingFor(header)).toBe(encoding));

  test.each([
    ["", "an empty header"],
    [undefined, "no header"],
    [null, "no header of a Request"],
    ["identity", "identity"],
    ["deflate, zstd", "codings that the service does not have"],
    ["identity, gzip;q=0.5", "identity before gzip"],
    ["identity;q=1, *;q=0.5", "identity before anything"],
    ["br;q=0, gzip;q=0", "neither coding"],
    ["*;q=0", "nothing at all"],
    ["gzip;q=x", "a q-value that is no number"],
    [";;;,,,=;q", "what is no list of codings"],
    [`gzip${", x".repeat(200)}`, "a header that is too long"],
  ])("Accept-Encoding %j gets the plain body: %s", (header, _why) => expect(encodingFor(header)).toBeUndefined());
});

describe("the tag that a client holds", () => {
  const etag = '"3q2-7w"';
  test("each coding has a strong tag of its own", () => {
    const tags = [etag, tagIn(etag, "br"), tagIn(etag, "gzip")];
    expect(tags).toEqual(['"3q2-7w"', '"3q2-7w-br"', '"3q2-7w-gzip"']);
  });

  test.each([
    ['"3q2-7w-br"', "gzip, br", '"3q2-7w-br"'],
    ['"3q2-7w-gzip"', "gzip, br", '"3q2-7w-gzip"'],
    ['W/"3q2-7w-gzip"', "gzip", '"3q2-7w-gzip"'],
    ['"old", "3q2-7w-br"', "br", '"3q2-7w-br"'],
    ['"3q2-7w", "3q2-7w-br"', "br", '"3q2-7w-br"'],
    ['"3q2-7w"', "br", '"3q2-7w"'],
    ['"3q2-7w"', undefined, '"3q2-7w"'],
    ["*", "br", '"3q2-7w"'],
  ])("If-None-Match %s of a client that accepts %s finds the copy %s", (held, accepted, tag) =>
    expect(heldTag(etag, held, accepted)).toBe(tag),
  );

  test.each([
    ['"3q2-7w-br"', "gzip", "a coding that the client does not accept any more"],
    ['"3q2-7w-gzip"', undefined, "a coding of a client that accepts none"],
    ['"3q2-7w-zstd"', "*", "a coding that the service does not have"],
    ['"old-br"', "br", "an older body"],
    [undefined, "br", "no tag"],
  ])("If-None-Match %s of a client that accepts %s finds nothing: %s", (held, accepted, _why) =>
    expect(heldTag(etag, held, accepted)).toBeUndefined(),
  );
});
