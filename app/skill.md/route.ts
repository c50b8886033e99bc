import { markdownResponse } from "#app/markdown-response";
import { readerWords } from "#app/reader-address";
import { SKILL } from "#lib/docs/skill";
import { otherMethods } from "#server/pages/methods";

/** How an agent uses the service, as a skill file that its host can keep. */
export async function GET(): Promise<Response> {
  return markdownResponse((await readerWords())(SKILL));
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
