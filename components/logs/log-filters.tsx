"use client";

import { ERRORS, errorOfCode } from "#lib/contract/errors";
import type { PortalKey } from "#lib/contract/portal";
import { keyName } from "../keys/key-text";
import { SearchField } from "../ui/search-field";
import { Select } from "../ui/select";

/** The selected filters; an empty text means "all". Their names are those of the query. */
export interface LogFilter {
  readonly key_id: string;
  readonly status: string;
  readonly operation: string;
  readonly q: string;
}

const STATUSES = [
  { value: "", label: "All statuses" },
  { value: "2xx", label: "2xx, succeeded" },
  { value: "3xx", label: "3xx, not modified" },
  { value: "4xx", label: "4xx, client error" },
  { value: "5xx", label: "5xx, server error" },
];

/** A status that is not among those to choose, or the code of an error by its title. */
function statusText(status: string): string {
  const id = errorOfCode(Number(status));
  return id === undefined ? status : `${status}, ${ERRORS[id].title}`;
}

interface LogFiltersProps {
  readonly filter: LogFilter;
  readonly onChange: (filter: LogFilter) => void;
  readonly keys: readonly PortalKey[];
  readonly operations: readonly string[];
}

/** Filters apply at once; a search applies when it is submitted. */
export function LogFilters({ filter, onChange, keys, operations }: LogFiltersProps) {
  return (
    <div className="mb-4 grid grid-cols-2 gap-2 sm:grid-cols-3">
      <Select
        aria-label="Key"
        options={[{ value: "", label: "All keys" }, ...keys.map(({ id }) => ({ value: id, label: keyName(keys, id) }))]}
        value={filter.key_id}
        onChange={(key_id) => onChange({ ...filter, key_id })}
        className="max-sm:col-span-2"
      />
      <Select
        aria-label="Status"
        options={
          STATUSES.some(({ value }) => value === filter.status)
            ? STATUSES
            : [...STATUSES, { value: filter.status, label: statusText(filter.status) }]
        }
        value={filter.status}
        onChange={(status) => onChange({ ...filter, status })}
      />
      <Select
        aria-label="Operation"
        options={[{ value: "", label: "All operations" }, ...operations.map((value) => ({ value, label: value }))]}
        value={filter.operation}
        onChange={(operation) => onChange({ ...filter, operation })}
      />
      <SearchField
        label="Path, request ID or IP address"
        value={filter.q}
        onSearch={(q) => onChange({ ...filter, q })}
        className="col-span-2 sm:col-span-3"
      />
    </div>
  );
}
