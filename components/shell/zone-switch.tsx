"use client";

import { placeOf } from "../portal/date-format";
import { useZones, type ZoneChoice } from "../portal/time";
import { Segmented } from "../ui/segmented";

/** Which time zone all pages show: UTC, or that of the device, by name. Its width does not depend on the name. */
export function ZoneSwitch() {
  const { choice, local, choose } = useZones();
  const isElsewhere = local !== undefined && local !== "UTC";
  const choices: readonly { value: ZoneChoice; name: string; label: React.ReactNode }[] = [
    { value: "utc", name: "UTC", label: "UTC" },
    {
      value: "local",
      name: isElsewhere ? `Local time in ${placeOf(local)} (${local})` : "Local time",
      label: <span className="w-14 truncate text-center min-[24rem]:w-16">{isElsewhere ? placeOf(local) : "Local"}</span>,
    },
  ];
  return <Segmented legend="Time zone" choices={choices} value={choice} onChange={choose} />;
}
