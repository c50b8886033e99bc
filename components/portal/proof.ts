/** Asks the reader to confirm who they are; resolves to true once they have. */
type Asker = () => Promise<boolean>;

/** The dialog of the current page, and the question that is open in it. */
const page: { asker?: Asker; asking?: Promise<boolean> | undefined } = {};

/** Lets a dialog answer on this page; returns what takes it away again. */
export function answerProofsWith(asker: Asker): () => void {
  page.asker = asker;
  return () => {
    if (page.asker === asker) delete page.asker;
  };
}

/** Asks for a fresh proof; calls that need one at the same time share one question. False on a page that cannot ask. */
export function askForProof(): Promise<boolean> {
  page.asking ??= (page.asker?.() ?? Promise.resolve(false)).finally(() => {
    page.asking = undefined;
  });
  return page.asking;
}
