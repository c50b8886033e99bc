import { KEY_RANDOM_CHARACTERS, keyChecksum } from "./contract/key-text";
import { BrandSchema, type BrandSettings, PROGRAM_NAME } from "./env-brand";

/**
 * Stands for the name of the service in texts that are made before it is known: of docs, when pages are built, and of emails, whose
 * other words belong to users. `brandWords` puts the name there. It is a character of private use, which no writing has.
 */
export const NAME_MARK = "\uE000";

/** The prefix of keys and tokens in texts, as `sw_live_…`, `sw_{live|test}_…` and `sw_…`; never that of a whole key. */
const PREFIX_MARK = /\bsw_(?=(?:live|test|page|link)_(?![0-9A-Za-z]{36})|[…{(])/g;

/** What an installation calls itself, and how it looks. */
export interface Brand {
  readonly name: string;
  /** Whether it goes by another name than the program's. */
  readonly isOwn: boolean;
  /** Files of a logo for the light and the dark theme. */
  readonly logo: { readonly light: string; readonly dark: string } | undefined;
  /** Colours #rrggbb of links for the light and the dark theme. */
  readonly accent: { readonly light: string; readonly dark: string } | undefined;
  readonly support: { readonly email: string | undefined; readonly url: string | undefined };
  /** The repository of the program. */
  readonly source: string | undefined;
  /** Whether the footer names the program. */
  readonly hasCredit: boolean;
  /** What new keys and tokens start with. */
  readonly keyPrefix: string;
  /** Whether the docs have what is for those who run an installation. */
  readonly forOperators: boolean;
}

/** The brand that these settings make. */
export function brandOf(settings: BrandSettings): Brand {
  const { BRAND_NAME: name, BRAND_LOGO, BRAND_LOGO_DARK, BRAND_ACCENT, BRAND_ACCENT_DARK } = settings;
  const isOwn = name !== PROGRAM_NAME;
  return {
    name,
    isOwn,
    logo: BRAND_LOGO === undefined ? undefined : { light: BRAND_LOGO, dark: BRAND_LOGO_DARK ?? BRAND_LOGO },
    accent:
      BRAND_ACCENT === undefined || BRAND_ACCENT_DARK === undefined
        ? undefined
        : { light: BRAND_ACCENT, dark: BRAND_ACCENT_DARK },
    support: { email: settings.SUPPORT_EMAIL, url: settings.SUPPORT_URL },
    source: settings.SOURCE_URL,
    hasCredit: isOwn && settings.BRAND_CREDIT === "on",
    keyPrefix: settings.KEY_PREFIX,
    forOperators: settings.DOCS_OPERATOR === "on",
  };
}

/** The brand without any setting: what texts show where no service runs. */
export const DEFAULT_BRAND = brandOf(BrandSchema.parse({}));

/** Puts name and prefix into a text that was made without them. */
export function brandWords({ name, keyPrefix }: Pick<Brand, "name" | "keyPrefix">): (text: string) => string {
  return (text) => text.replaceAll(NAME_MARK, () => name).replace(PREFIX_MARK, `${keyPrefix}_`);
}

/** A name for programs: letters a to z, digits and dashes. */
export function slugOf({ name }: Pick<Brand, "name">): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return slug === "" ? "market-data" : slug;
}

/** Who answers for the service, as documents for programs say it. */
export interface Contact {
  readonly name: string;
  readonly email?: string;
  readonly url?: string;
}

/** The contact of a brand. */
export function contactOf({ name, isOwn, support: { email, url } }: Brand): Contact {
  return { name: isOwn ? name : "The operator of this installation", ...(email && { email }), ...(url && { url }) };
}

/** What webhooks call themselves. A header has characters of ASCII alone. */
export const webhookAgentOf = ({ name }: Pick<Brand, "name">) =>
  `${name.replace(/[^0-9A-Za-z.+-]+/g, "-").replace(/^-|-$/g, "")}-Webhooks/1`.replace(/^-/, "");

/** The public demo key of an installation that sets none: it names the service, and is the same on every node. */
export function demoKeyOf({ name, keyPrefix }: Pick<Brand, "name" | "keyPrefix">): string {
  const word = `DEMOkeyOf${name.replace(/[^0-9A-Za-z]/g, "").slice(0, 10)}ForEveryone`;
  const text = `${keyPrefix}_test_${word.padEnd(KEY_RANDOM_CHARACTERS, "0")}`;
  return text + keyChecksum(text);
}
