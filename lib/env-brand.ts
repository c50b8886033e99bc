import { z } from "zod";
import { KEY_PREFIX, KEY_PREFIX_DEFAULT } from "./contract/key-text";

/** The name of the program, which an installation may replace by its own. */
export const PROGRAM_NAME = "Spotwire";
const NAME_MAX_CHARACTERS = 40;
/** Characters that mean nothing in HTML, XML, Markdown, JSON and the headers of emails. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N} .&'’+-]*[\p{L}\p{N}.+])?$/u;
const COLOUR = /^#[0-9a-f]{6}$/i;

/** The least contrast of text in WCAG 2.2, 1.4.3. */
const CONTRAST_MIN = 4.5;
/** Where text in the accent has the least contrast: the darkest ground of the light theme and the lightest of the dark one. */
export const GROUNDS = { light: "#f1f4f7", dark: "#11161c" } as const;

/** The relative luminance of a colour, as WCAG defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours #rrggbb, from 1 to 21. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function accent(theme: keyof typeof GROUNDS) {
  return z.string().superRefine((colour, context) => {
    const wrong = (message: string) => context.addIssue({ code: "custom", message });
    if (!COLOUR.test(colour)) return wrong("must be a colour as #rrggbb.");
    const ratio = contrast(colour, GROUNDS[theme]);
    // Cut off, so that 4.49 is not said to be 4.5.
    const shown = Math.floor(ratio * 100) / 100;
    if (ratio < CONTRAST_MIN)
      wrong(
        `has a contrast of ${shown}:1 to the ${theme} theme, and needs ${CONTRAST_MIN}:1: make it ${theme === "light" ? "darker" : "lighter"}.`,
      );
  });
}

const onOff = z.enum(["on", "off"]);

/** What an installation calls itself, and how it looks. */
export const brandSettings = {
  BRAND_NAME: z
    .string()
    .max(NAME_MAX_CHARACTERS)
    .regex(NAME, "must be letters, digits, spaces and . & ' + -, from a letter or digit on.")
    .default(PROGRAM_NAME)
    .describe(
      `Name of the service, up to ${NAME_MAX_CHARACTERS} characters: on pages, in emails, in the docs and in the documents for programs.`,
    ),
  BRAND_LOGO: z
    .string()
    .optional()
    .describe("File with a logo, shown before the name: SVG or PNG. Unset: none, or that of Spotwire under its name."),
  BRAND_LOGO_DARK: z.string().optional().describe("The logo for the dark theme. Unset: BRAND_LOGO."),
  BRAND_ACCENT: accent("light")
    .optional()
    .describe("Colour of links and buttons, as #rrggbb, with a contrast of 4.5:1 to the light theme; needs BRAND_ACCENT_DARK."),
  BRAND_ACCENT_DARK: accent("dark")
    .optional()
    .describe("Colour of links in the dark theme, with a contrast of 4.5:1 to it; needs BRAND_ACCENT."),
  BRAND_CREDIT: onOff.default("on").describe(`on says "Runs on ${PROGRAM_NAME}" in the footer, under another BRAND_NAME.`),
  SUPPORT_EMAIL: z
    .email()
    .optional()
    .describe("Address of your support: in the footer, in emails and in the documents for programs."),
  SUPPORT_URL: z
    .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
    .optional()
    .describe("Page of your support, in the same places."),
  SOURCE_URL: z
    .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." })
    .optional()
    .describe(
      "Repository of the program that you run: linked in header and footer, and cloned by the start command of the home page.",
    ),
  KEY_PREFIX: z
    .string()
    .regex(new RegExp(`^${KEY_PREFIX}$`), "must be 2 to 8 lower-case letters and digits, from a letter on.")
    .default(KEY_PREFIX_DEFAULT)
    .describe("What new keys and tokens start with, as sw_live_…; those with an earlier prefix keep working."),
  DOCS_OPERATOR: onOff
    .default("on")
    .describe(
      'off leaves out what is for those who run an installation: the section "Running it" of the docs, and the links to it.',
    ),
};

/** The settings of the brand alone. */
export const BrandSchema = z.object(brandSettings);
/** As they are read. */
export type BrandSettings = Readonly<z.infer<typeof BrandSchema>>;

/** Settings of the brand that lack another one, each with what it lacks. */
export function missingForBrand(settings: Partial<BrandSettings>): (readonly [name: keyof BrandSettings, problem: string])[] {
  const { BRAND_LOGO, BRAND_LOGO_DARK, BRAND_ACCENT, BRAND_ACCENT_DARK } = settings;
  const missing: (readonly [keyof BrandSettings, string])[] = [];
  if (BRAND_LOGO === undefined && BRAND_LOGO_DARK !== undefined)
    missing.push(["BRAND_LOGO", "is required with BRAND_LOGO_DARK."]);
  // No colour has this contrast to both themes.
  if (BRAND_ACCENT === undefined && BRAND_ACCENT_DARK !== undefined)
    missing.push(["BRAND_ACCENT", "is required with BRAND_ACCENT_DARK."]);
  if (BRAND_ACCENT !== undefined && BRAND_ACCENT_DARK === undefined)
    missing.push(["BRAND_ACCENT_DARK", "is required with BRAND_ACCENT."]);
  return missing;
}
