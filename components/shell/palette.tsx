"use client";

import { Command } from "cmdk";
import { useRouter } from "next/navigation";
import type { PortalKey } from "#lib/contract/portal";
import { signOut } from "../portal/sign-in";
import { usePortal } from "../portal/use-portal";
import { DASHBOARD_PAGES, GUEST_PAGES, type PageLink, REFERENCE_PAGES, type Reader, TO_ADMIN } from "./pages";

interface PaletteProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly reader: Reader;
}

const GROUP =
  "[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-ink-faint [&_[cmdk-group-heading]]:text-xs";

const PAGES: Readonly<Record<Reader, readonly PageLink[]>> = {
  guest: GUEST_PAGES,
  developer: DASHBOARD_PAGES,
  operator: [...DASHBOARD_PAGES, TO_ADMIN],
};
const ITEM =
  "flex cursor-default items-center justify-between gap-4 rounded-md px-3 py-2 text-sm pointer-coarse:py-3 data-[selected=true]:bg-sunken";

function Entry({ page, onGo, note }: { page: PageLink; onGo: (page: PageLink) => void; note?: string }) {
  return (
    <Command.Item value={`${page.label} ${note ?? ""} ${page.href}`} onSelect={() => onGo(page)} className={ITEM}>
      <span className="truncate">{page.label}</span>
      {note === undefined ? null : <span className="shrink-0 font-mono text-ink-faint text-xs">{note}</span>}
    </Command.Item>
  );
}

/** The signed-in reader's keys, read when the palette is first opened. */
function KeyEntries({ onGo }: { onGo: (page: PageLink) => void }) {
  const { data } = usePortal<{ items: readonly PortalKey[] }>("keys");
  const usable = data?.items.filter(({ state }) => state === "active" || state === "grace") ?? [];
  if (usable.length === 0) return null;
  return (
    <Command.Group heading="Keys" className={GROUP}>
      {usable.map(({ id, name, prefix, last4 }) => (
        <Entry key={id} page={{ href: `/dashboard/logs?key_id=${id}`, label: name }} note={`${prefix}…${last4}`} onGo={onGo} />
      ))}
    </Command.Group>
  );
}

/** Search over pages, references and one's own keys. */
export function Palette({ open, onOpenChange, reader }: PaletteProps) {
  const router = useRouter();
  const go = ({ href, document = false }: PageLink) => {
    onOpenChange(false);
    if (document) window.location.assign(href);
    else router.push(href);
  };
  return (
    <Command.Dialog
      open={open}
      onOpenChange={onOpenChange}
      label="Search"
      loop
      overlayClassName="fixed inset-0 z-40 bg-black/45"
      contentClassName="fixed top-[12dvh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-surface shadow-xl"
    >
      <Command.Input
        placeholder="Go to a page or a key"
        className="w-full border-line border-b bg-transparent px-4 py-3 text-sm outline-none pointer-coarse:text-base placeholder:text-ink-faint"
      />
      <Command.List className="max-h-[min(24rem,60dvh)] overflow-y-auto p-2">
        <Command.Empty className="px-3 py-6 text-center text-ink-faint text-sm">Nothing by that name.</Command.Empty>
        <Command.Group heading="Pages" className={GROUP}>
          <Entry page={{ href: "/", label: "Start" }} onGo={go} />
          {PAGES[reader].map((page) => (
            <Entry key={page.href} page={page} onGo={go} />
          ))}
        </Command.Group>
        {reader === "guest" ? null : <KeyEntries onGo={go} />}
        <Command.Group heading="Reference" className={GROUP}>
          {REFERENCE_PAGES.map((page) => (
            <Entry key={page.href} page={page} onGo={go} />
          ))}
        </Command.Group>
        {reader === "guest" ? null : (
          <Command.Group heading="Account" className={GROUP}>
            <Command.Item value="Sign out" onSelect={() => void signOut()} className={ITEM}>
              Sign out
            </Command.Item>
          </Command.Group>
        )}
      </Command.List>
    </Command.Dialog>
  );
}
