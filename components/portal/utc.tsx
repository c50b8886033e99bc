/** An instant (ISO 8601) in UTC to the minute, as files and commands have it. */
export function utcText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)}`;
}

/** An instant in UTC. History is compared with files, so it is not shown in the viewer's time zone. */
export function Utc({ at }: { at: string }) {
  return (
    <time dateTime={at} className="whitespace-nowrap font-mono text-[13px] tabular-nums">
      {utcText(at)}
    </time>
  );
}
