/** The name of a backup that is given none; the time is in it, so that a copy of the file keeps its age. */
export const backupName = (atMs: number) => `spotwire-${new Date(atMs).toISOString().replaceAll(":", "-")}.backup`;

const NAME = /^spotwire-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.backup(\.part)?$/;

/** When the backup of this name was begun, also of one that is not complete; Unix milliseconds, undefined for other files. */
export function backupTimeMs(name: string): number | undefined {
  const [, day, hour, minute, second] = NAME.exec(name) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}${hour}:${minute}:${second}`);
}
