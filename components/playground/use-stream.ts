"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import type { Bearers } from "./credential";
import { openSession, type Session, type SessionEnd, type SessionTarget } from "./session";
import { createStreamBook, type StreamView } from "./stream-state";

/** The content of a subscribe or unsubscribe. */
export interface Selection {
  readonly stream: string;
  readonly tickers: readonly string[];
  readonly timeframe?: string;
}

/** A console's connection. */
export interface StreamControl {
  readonly phase: "idle" | "connecting" | "open" | "ended";
  readonly view: StreamView;
  /** How the last connection ended; undefined before, and while another one is open. */
  readonly end: SessionEnd | undefined;
  /** Opens a connection and subscribes to the selection after the welcome. */
  connect(target: SessionTarget, selection: Selection): void;
  disconnect(): void;
  ask(method: "subscribe" | "unsubscribe", selection: Selection): void;
  clear(): void;
}

/** Close code of a connection that the reader closed. */
const NORMAL_CLOSE = 1000;

/** Holds one connection while the component is mounted. The view updates once per frame, whatever the message rate. */
export function useStream(bearers: Bearers): StreamControl {
  const [book] = useState(createStreamBook);
  const [view, setView] = useState(() => book.view());
  const [phase, setPhase] = useState<StreamControl["phase"]>("idle");
  const [end, setEnd] = useState<SessionEnd>();
  const session = useRef<Session>(undefined);
  const frame = useRef<number>(undefined);
  const asked = useRef(0);

  const show = useCallback(() => {
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined;
      setView(book.view());
    });
  }, [book]);

  useEffect(
    () => () => {
      session.current?.close();
      if (frame.current !== undefined) cancelAnimationFrame(frame.current);
    },
    [],
  );

  const ask: StreamControl["ask"] = (method, params) => {
    asked.current += 1;
    const text = session.current?.send({ id: asked.current, method, params });
    if (text !== undefined) book.sent(text, Date.now());
    show();
  };

  const finish = (outcome: SessionEnd) => {
    setPhase("ended");
    setEnd(outcome);
    show();
  };

  const connect: StreamControl["connect"] = (target, selection) => {
    session.current?.close();
    book.restart();
    setPhase("connecting");
    setEnd(undefined);
    let welcome = false;
    session.current = openSession(bearers, target, {
      onText(text) {
        book.received(text, Date.now());
        show();
        if (welcome) return;
        welcome = true;
        setPhase("open");
        ask("subscribe", selection);
      },
      onEnd: finish,
    });
  };

  return {
    phase,
    view,
    end,
    connect,
    disconnect() {
      session.current?.close();
      finish({ code: NORMAL_CLOSE, reason: "" });
    },
    ask,
    clear() {
      book.clear();
      show();
    },
  };
}
