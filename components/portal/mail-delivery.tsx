"use client";

import { createContext, type ReactNode, use } from "react";
import type { MailDelivery } from "#lib/contract/mail";

const Delivery = createContext<MailDelivery>("server");

/** Tells everything within where the emails of this installation go. */
export function MailDeliveryProvider({ delivery, children }: { delivery: MailDelivery; children: ReactNode }) {
  return <Delivery value={delivery}>{children}</Delivery>;
}

/** Where the emails of this installation go. */
export function useMailDelivery(): MailDelivery {
  return use(Delivery);
}
