"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Bearers } from "../portal/bearers";
import { whileVisible } from "../portal/while-visible";
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
  readonly phase: "idle" | "connecting" | "open" | "paused" | "ended";
  readonly view: StreamView;
  /** How the last connection ended; undefined before, and while another one is open. */
  readonly end: SessionEnd | undefined;
  /** Opens a connection and subscribes to the selection after the welcome. */
  connect(target: SessionTarget, selection: Selection): void;
  disconnect(): void;
  ask(method: "subscribe" | "unsubscribe", selection: Selection): void;
  clear(): void;
}

/** A request of the reader, to be repeated on the next connection. */
interface Ask {
  readonly method: "subscribe" | "unsubscribe";
  readonly selection: Selection;
}

/** A hidden page keeps its connection this long. Then it leaves it to others: an address and an account may have few. */
const PAUSE_AFTER_MS = 5 * MINUTE_MS;
/** Requests that are repeated after a pause; no more than a connection takes at once. */
const ASKS_MAX_COUNT = 20;
/** Close code of a connection that the reader closed. */
const NORMAL_CLOSE = 1000;
const RATES_EVERY_MS = SECOND_MS;

/** What the console shows, updated once per frame, whatever the message rate. */
function useBook() {
  const [book] = useState(createStreamBook);
  const [view, setView] = useState(() => book.view(Date.now()));
  const frame = useRef<number>(undefined);
  const show = useCallback(() => {
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined;
      setView(book.view(Date.now()));
    });
  }, [book]);
  useEffect(
    () => () => {
      if (frame.current !== undefined) cancelAnimationFrame(frame.current);
    },
    [],
  );
  return { book, view, show };
}

/** Holds one connection while the component is mounted and its page is not hidden for long. */
export function useStream(bearers: Bearers): StreamControl {
  const { book, view, show } = useBook();
  const [phase, setPhase] = useState<StreamControl["phase"]>("idle");
  const [end, setEnd] = useState<SessionEnd>();
  const session = useRef<Session>(undefined);
  const asked = useRef(0);
  const target = useRef<SessionTarget>(undefined);
  const asks = useRef<readonly Ask[]>([]);
  const resume = useRef(() => {});
  const held = phase !== "idle" && phase !== "ended";

  useEffect(() => () => session.current?.close(), []);

  // Rates fall while nothing arrives.
  useEffect(() => {
    if (phase !== "open") return;
    const timer = setInterval(show, RATES_EVERY_MS);
    return () => clearInterval(timer);
  }, [phase, show]);

  useEffect(() => {
    if (!held) return;
    let paused = false;
    return whileVisible(() => {
      if (paused) resume.current();
      return () => {
        paused = true;
        session.current?.close();
        setPhase((now) => (now === "ended" ? now : "paused"));
      };
    }, PAUSE_AFTER_MS);
  }, [held]);

  const say = ({ method, selection }: Ask) => {
    asked.current += 1;
    const text = session.current?.send({ id: asked.current, method, params: selection });
    if (text !== undefined) book.sent(text, Date.now());
    show();
  };

  const finish = (outcome: SessionEnd) => {
    setPhase("ended");
    setEnd(outcome);
    show();
  };

  const open = (to: SessionTarget) => {
    session.current?.close();
    book.restart();
    setPhase("connecting");
    setEnd(undefined);
    let welcome = false;
    session.current = openSession(bearers, to, {
      onText(text) {
        book.received(text, Date.now());
        show();
        if (welcome) return;
        welcome = true;
        setPhase("open");
        for (const ask of asks.current) say(ask);
      },
      onEnd: finish,
    });
  };
  resume.current = () => target.current && open(target.current);

  return {
    phase,
    view,
    end,
    connect(to, selection) {
      target.current = to;
      asks.current = [{ method: "subscribe", selection }];
      open(to);
    },
    disconnect() {
      session.current?.close();
      finish({ code: NORMAL_CLOSE, reason: "" });
    },
    ask(method, selection) {
      const ask = { method, selection };
      asks.current = [...asks.current, ask].slice(-ASKS_MAX_COUNT);
      say(ask);
    },
    clear() {
      book.clear();
      show();
    },
  };
}
