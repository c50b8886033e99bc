import { fieldsOf, isSpotwireError, parseJson } from "#lib/client/errors";
import { fetchAs } from "../board/market-stream";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { NO_ANSWER, noAnswerOf } from "../portal/no-answer";
import { saveFile } from "./save-file";

const FILE_NAME = /filename="([^"]+)"/;

/** Saves a file of the service among the reader's downloads; returns why it could not, as a sentence. */
export async function downloadFile(url: string, bearers: Bearers, credential: Credential): Promise<string | undefined> {
  try {
    const response = await fetchAs(bearers, credential)(url, { cache: "no-store", credentials: "omit" });
    if (!response.ok) {
      const { detail } = fieldsOf(fieldsOf(parseJson(await response.text())).data);
      return typeof detail === "string" ? detail : `The service answered with status ${response.status}.`;
    }
    const [, name = "file"] = FILE_NAME.exec(response.headers.get("content-disposition") ?? "") ?? [];
    saveFile(await response.blob(), name);
    return undefined;
  } catch (error) {
    return isSpotwireError(error) ? error.detail : NO_ANSWER[noAnswerOf()].says;
  }
}
