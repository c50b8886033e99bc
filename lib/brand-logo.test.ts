import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { LOGO_MAX_BYTES, readLogo } from "./brand-logo";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"';
const svg = (inside: string, attributes = "") => Buffer.from(`<svg ${NAMESPACE} viewBox="0 0 1 1" ${attributes}>${inside}</svg>`);

/** The start of a PNG: its signature and its first chunk. */
function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(25);
  header.writeUInt32BE(13, 0);
  header.write("IHDR", 4, "latin1");
  header.writeUInt32BE(width, 8);
  header.writeUInt32BE(height, 12);
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), header, deflateSync(Buffer.alloc(8))]);
}

describe("a logo", () => {
  test.each([
    ["the program's own", readFileSync("lib/brand-pictures/icon.svg")],
    [
      "of an editor, with a declaration, a comment and metadata",
      Buffer.concat([
        Buffer.from('\uFEFF<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- Made by an editor -->\n'),
        svg("<metadata>x</metadata>"),
      ]),
    ],
    [
      "with references within itself",
      svg('<defs><path id="a"/></defs><use href="#a"/><use xlink:href="#a"/><path fill="url(#b)" style="filter:url(\'#c\')"/>'),
    ],
    ["with a style", svg("<style>.a{fill:#123456}</style><path class='a' d='M0 0'/>")],
    ["with a title that has reserved characters", svg("<title>A &amp; B &lt;3</title>")],
  ])("is an SVG: %s", (_, bytes) => {
    expect(readLogo(bytes)).toEqual({ type: "image/svg+xml" });
  });

  test("is a PNG", () => {
    expect(readLogo(png(512, 128))).toEqual({ type: "image/png" });
    expect(readLogo(readFileSync("lib/brand-pictures/apple-icon.png"))).toEqual({ type: "image/png" });
  });

  test.each([
    ["a script", svg("<script>alert(1)</script>"), "without a script"],
    ["a script with a prefix, in capitals", svg("<s:SCRIPT>alert(1)</s:SCRIPT>"), "without a script"],
    ["a script that is all of it", Buffer.from("alert(1)"), "must be an SVG"],
    ["an event handler", svg("", 'onload="alert(1)"'), "without an event handler"],
    ["an event handler of an animation", svg("<set onbegin='alert(1)'/>"), "without an event handler"],
    ["an event handler after a slash", svg("<path/onclick=alert(1) />"), "without an event handler"],
    ["HTML", svg("<foreignObject><p>hello</p></foreignObject>"), "without embedded content"],
    ["a frame", svg('<iframe src="#"/>'), "without embedded content"],
    ["another file", svg('<image href="other.png"/>'), "without an external reference"],
    ["another site", svg('<use xlink:href="https://example.com/a.svg#a"/>'), "without an external reference"],
    ["a link that runs", svg('<a href="javascript:alert(1)"><path/></a>'), "without an external reference"],
    ["an embedded picture", svg('<image href="data:image/svg+xml;base64,AAAA"/>'), "without an external reference"],
    ["a style of another site", svg("<style>@import 'https://example.com/a.css'</style>"), "without an external reference"],
    ["a font of another site", svg("<style>a{src:url(https://example.com/a)}</style>"), "without an external reference"],
    ["a stylesheet", Buffer.from(`<?xml-stylesheet href="a.css"?><svg ${NAMESPACE}/>`), "must be an SVG"],
    ["a stylesheet inside", svg('<?xml-stylesheet href="#"?>'), "without an external reference"],
    ["an entity", Buffer.from(`<!DOCTYPE svg [<!ENTITY a "b">]><svg ${NAMESPACE}/>`), "must be an SVG"],
    ["an escaped handler", svg("<path d='&#x6f;'/>"), "without an escaped character"],
    ["an escape of a style", svg("<style>a{b:\\75rl(x)}</style>"), "without an escaped character"],
    ["another encoding", Buffer.from(`<?xml version="1.0" encoding="utf-7"?><svg ${NAMESPACE}/>`), "must be an SVG"],
    ["a JPEG that is called a PNG", Buffer.from("ffd8ffe000104a464946", "hex"), "must be an SVG in UTF-8 or a PNG"],
    ["an HTML page", Buffer.from("<!doctype html><svg></svg>"), "must be an SVG"],
    ["nothing", Buffer.alloc(0), "must be an SVG"],
    ["a PNG of a million pixels a side", png(1_000_000, 1_000_000), "2048 pixels"],
    ["a PNG without a size", png(0, 10), "2048 pixels"],
    ["the signature of a PNG alone", png(1, 1).subarray(0, 8), "2048 pixels"],
    ["a file that is too large", Buffer.alloc(LOGO_MAX_BYTES + 1, " "), `at most ${LOGO_MAX_BYTES} bytes`],
  ])("is refused with its reason: %s", (_, bytes, reason) => {
    expect(readLogo(bytes)).toContain(reason);
  });
});
