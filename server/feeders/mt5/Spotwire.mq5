//+------------------------------------------------------------------+
//| Spotwire.mq5                                                     |
//| Sends the ticks of many symbols to a Spotwire service, and fills |
//| the minutes that were missed while it could not send.            |
//+------------------------------------------------------------------+
#property copyright   "Spotwire"
#property link        "http://localhost:3000/docs/providers/metatrader-5"
#property version     "1.00"
#property description "Sends the ticks of many symbols to a Spotwire service."
#property description "Attach it to one chart. Allow the address of the service in Tools > Options > Expert Advisors."

enum HistoryClock
{
  CLOCK_AUTO,       // Find out
  CLOCK_EET,        // EET: UTC+2, summer time as in Europe
  CLOCK_NEW_YORK_7, // New York + 7 hours: summer time as in the US
  CLOCK_FIXED       // The same offset all year
};

input group "Service"
input string InpUrl = "http://localhost:3000"; // Address of the service
input string InpKey = ""; // API key with the scope market:ingest
input group "Symbols"
input string InpSymbols = "EURUSD,GBPUSD,USDJPY,XAUUSD"; // Symbols; SYMBOL=TICKER where the names differ
input group "Time"
input int InpServerOffsetMinutes = 9999; // Server time minus UTC in minutes (9999: find out)
input HistoryClock InpHistoryClock = CLOCK_AUTO; // Clock of past minutes
input group "Sending"
input int InpIntervalMs = 250; // Pause between two batches in milliseconds (at least 250)
input int InpCatchUpDays = 30; // Days in which missing minutes are filled (0: none, at most 39)

#define OFFSET_FIND_OUT 9999
#define OFFSET_MAX_MINUTES 840
#define OFFSET_STEP_S 900
#define BATCH_MAX_TICKS 2000
#define BATCH_MAX_KLINES 5000
#define SYMBOLS_MAX_COUNT 200
#define TIMEOUT_MS 5000
#define BACKOFF_MIN_MS 500
#define BACKOFF_MAX_MS 32000
#define RETRY_AFTER_MAX_S 300
#define REFUSED_PAUSE_MS 60000
#define UNKNOWN_PAUSE_MS 600000
#define SELECT_PAUSE_MS 60000
#define AGREE_MS 60000
#define AWAY_MS 60000
#define CLOCK_MAX_ERROR_MS 120000
#define SETTLE_MS 3000
#define MINUTE_MS 60000
#define PAGES_MAX_COUNT 20
#define HISTORY_TRIES_MAX_COUNT 10
#define HISTORY_PAUSE_MS 2000
#define CLOCK_EVIDENCE_DAYS 45
#define FLUSH_MS 60000
#define REPORT_MS 300000
#define REASONS_MAX_COUNT 40
#define DAY_S 86400

// A symbol of this terminal, and how far it has been sent.
struct Feed
{
  string symbol;
  string ticker;
  int    digits;
  double point;
  bool   selected;    // in Market Watch
  ulong  selectAtMs;  // not selected again before
  bool   due;         // the service must be asked for its state before ticks are sent
  ulong  askAtMs;     // not asked before
  long   mark;        // server time (ms) of the last answered tick; 0: none
  int    skip;        // answered ticks of that millisecond
  long   nextMark;    // both, once the current batch is answered
  int    nextSkip;
  long   firstMs;     // UTC (ms) of its first tick in the current batch; 0: none
  long   gap;         // UTC (s) of the minute from which minutes may lack ticks; 0: none
};

// Minutes of a feed to send, UTC (s), end exclusive.
struct Span
{
  int  feed;
  long from;
  long to;
};

// How often the service refused something for this reason.
struct Reason
{
  string name;
  long   count;
};

Feed   feeds[];
Span   spans[];
Reason reasons[];
string baseUrl = "";
bool   busy = false;
bool   halted = false;
int    firstFeed = 0;
int    batchTicks = BATCH_MAX_TICKS;
int    batchKlines = BATCH_MAX_KLINES;
// Requests that failed in a row, since when, and until when nothing is sent.
int    failures = 0;
ulong  failingSinceMs = 0;
ulong  waitUntilMs = 0;
string lastFailure = "";
// Server time minus UTC (s), the value that may replace it, and since when that is seen.
bool   offsetKnown = false;
int    offsetS = 0;
int    otherOffsetS = 0;
ulong  otherSinceMs = 0;
bool   clockWrong = false;
// The clock of past minutes: CLOCK_AUTO while it is not decided.
HistoryClock historyClock = CLOCK_AUTO;
bool   historyRefused = false;
int    historyTries = 0;
ulong  historyAtMs = 0;
ulong  connectedAtMs = 0;
ulong  flushAtMs = 0;
ulong  reportAtMs = 0;
long   sentTicks = 0;
long   acceptedTicks = 0;
long   sentKlines = 0;
long   acceptedKlines = 0;
long   newestTickMs = 0;

//+------------------------------------------------------------------+
//| Words                                                            |
//+------------------------------------------------------------------+
void Say(string text)
{
  Print("Spotwire: " + text);
}

void Warn(string text)
{
  Alert("Spotwire: " + text);
}

// The first text that follows `after`, up to one of `ends`; empty if there is none.
string Between(string text, string after, string ends)
{
  int start = StringFind(text, after);
  if(start < 0)
    return("");
  start += StringLen(after);
  int length = StringLen(text);
  int stop = start;
  while(stop < length && StringFind(ends, StringSubstr(text, stop, 1)) < 0)
    stop++;
  // A length of 0 could be taken for all the rest.
  return(stop == start ? "" : StringSubstr(text, start, stop - start));
}

// The service's explanation of a failure.
string DetailOf(string answer)
{
  string detail = Between(answer, "\"detail\":\"", "\"");
  return(detail == "" ? Between(answer, "\"message\":\"", "\"") : detail);
}

string Minutes(int seconds)
{
  return(IntegerToString(seconds / 60) + " minutes");
}

//+------------------------------------------------------------------+
//| Marks: how far each symbol is sent, kept by the terminal          |
//+------------------------------------------------------------------+
string MarkName(int f, string what)
{
  return("Spotwire." + feeds[f].symbol + "." + what);
}

long SavedNumber(string name)
{
  return(GlobalVariableCheck(name) ? (long)GlobalVariableGet(name) : 0);
}

void SaveMarks(int f)
{
  GlobalVariableSet(MarkName(f, "gap"), (double)feeds[f].gap);
  GlobalVariableSet(MarkName(f, "skip"), (double)feeds[f].skip);
  GlobalVariableSet(MarkName(f, "mark"), (double)feeds[f].mark);
}

void RestoreMarks(int f)
{
  feeds[f].mark = SavedNumber(MarkName(f, "mark"));
  feeds[f].skip = (int)SavedNumber(MarkName(f, "skip"));
  feeds[f].gap = SavedNumber(MarkName(f, "gap"));
}

// From this minute on, minutes of the feed may lack ticks.
void NoteGap(int f, long fromS)
{
  long minute = fromS - fromS % 60;
  if(feeds[f].gap == 0 || minute < feeds[f].gap)
    feeds[f].gap = minute;
  SaveMarks(f);
}

// Before more ticks are sent, the service is asked what it has of every symbol.
void AskForAll()
{
  for(int f = 0; f < ArraySize(feeds); f++)
    feeds[f].due = true;
}

//+------------------------------------------------------------------+
//| Time                                                             |
//+------------------------------------------------------------------+
// Unix seconds of midnight, UTC, of the n-th Sunday of a month; n = 0 for the last one of a month with 31 days.
long SundayOf(int year, int month, int n)
{
  MqlDateTime parts;
  TimeToStruct((datetime)0, parts);
  parts.year = year;
  parts.mon = month;
  parts.day = n == 0 ? 31 : 1;
  long day = (long)StructToTime(parts);
  TimeToStruct((datetime)day, parts);
  if(n == 0)
    return(day - (long)parts.day_of_week * DAY_S);
  return(day + (long)((7 - parts.day_of_week) % 7 + (n - 1) * 7) * DAY_S);
}

int YearOf(long utcS)
{
  MqlDateTime parts;
  TimeToStruct((datetime)utcS, parts);
  return(parts.year);
}

// From 01:00 UTC on the last Sunday of March to 01:00 UTC on the last one of October.
bool IsSummerInEurope(long utcS)
{
  int year = YearOf(utcS);
  return(utcS >= SundayOf(year, 3, 0) + 3600 && utcS < SundayOf(year, 10, 0) + 3600);
}

// From 02:00 New York time on the second Sunday of March to 02:00 on the first one of November.
bool IsSummerInNewYork(long utcS)
{
  int year = YearOf(utcS);
  return(utcS >= SundayOf(year, 3, 2) + 7 * 3600 && utcS < SundayOf(year, 11, 1) + 6 * 3600);
}

// Server time minus UTC (s) at an instant, on one of the clocks.
int OffsetAt(HistoryClock clock, long utcS)
{
  if(clock == CLOCK_EET)
    return(IsSummerInEurope(utcS) ? 10800 : 7200);
  if(clock == CLOCK_NEW_YORK_7)
    return(IsSummerInNewYork(utcS) ? 10800 : 7200);
  return(offsetS);
}

// UTC (s) of a past server time.
long PastUtc(HistoryClock clock, long serverS)
{
  long guess = serverS - OffsetAt(clock, serverS - 7200);
  return(serverS - OffsetAt(clock, guess));
}

// Whether forex is closed: from Friday to Sunday, 17:00 in New York.
bool IsWeekend(long utcS)
{
  MqlDateTime parts;
  TimeToStruct((datetime)(utcS - (IsSummerInNewYork(utcS) ? 4 : 5) * 3600), parts);
  if(parts.day_of_week == 5)
    return(parts.hour >= 17);
  if(parts.day_of_week == 0)
    return(parts.hour < 17);
  return(parts.day_of_week == 6);
}

// UTC (ms) now, exact to a second.
long NowUtcMs()
{
  return(((long)TimeTradeServer() - offsetS) * 1000);
}

// Finds server time minus UTC. The clock of this computer may be wrong for a moment, so a new value counts when it is seen
// for a minute. False while it is not known.
bool FindOffset(ulong nowMs)
{
  if(InpServerOffsetMinutes != OFFSET_FIND_OUT)
  {
    offsetS = InpServerOffsetMinutes * 60;
    offsetKnown = true;
    return(true);
  }
  int seen = (int)MathRound((double)((long)TimeTradeServer() - (long)TimeGMT()) / OFFSET_STEP_S) * OFFSET_STEP_S;
  if(offsetKnown && seen == offsetS)
  {
    otherSinceMs = 0;
    return(true);
  }
  if(otherSinceMs == 0 || seen != otherOffsetS)
  {
    otherOffsetS = seen;
    otherSinceMs = nowMs;
    Say("server time is " + Minutes(seen) + " ahead of UTC by the clock of this computer; checked again in a minute, then ticks are sent.");
    return(false);
  }
  if(nowMs - otherSinceMs < AGREE_MS)
    return(false);
  offsetS = seen;
  offsetKnown = true;
  otherSinceMs = 0;
  historyClock = CLOCK_AUTO;
  GlobalVariableSet("Spotwire.offset", (double)offsetS);
  Say("server time is " + Minutes(offsetS) + " ahead of UTC.");
  AskForAll();
  return(true);
}

//+------------------------------------------------------------------+
//| Requests                                                         |
//+------------------------------------------------------------------+
// The pause that the service asks for in `Retry-After` (ms); 0 if it asks for none.
ulong RetryAfterMs(string headers)
{
  string lower = headers;
  StringToLower(lower);
  long seconds = StringToInteger(Between("\n" + lower, "\nretry-after:", "\r\n"));
  if(seconds <= 0)
    return(0);
  return((ulong)(seconds > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : seconds) * 1000);
}

// Says what failed, once while it stays the same.
void SayFailure(string text)
{
  if(text == lastFailure)
    return;
  lastFailure = text;
  Say(text);
}

// Chooses the pause after a request that was not answered with 200.
void Failed(string path, int status, int error, string answer, string headers)
{
  ulong nowMs = GetTickCount64();
  if(failures == 0)
    failingSinceMs = nowMs;
  failures++;
  if(nowMs - failingSinceMs > AWAY_MS)
    AskForAll();
  if(status == 401 || status == 403)
  {
    Warn("the service refuses the key: " + DetailOf(answer) + " Next try in a minute.");
    waitUntilMs = nowMs + REFUSED_PAUSE_MS;
    return;
  }
  // A smaller batch follows: no reason to wait longer each time.
  int doublings = status == 413 ? 0 : failures > 7 ? 6 : failures - 1;
  ulong pauseMs = (ulong)BACKOFF_MIN_MS << doublings;
  if(pauseMs > BACKOFF_MAX_MS)
    pauseMs = BACKOFF_MAX_MS;
  // Between half of the pause and all of it, so that many terminals do not come back together.
  pauseMs = pauseMs / 2 + pauseMs / 2 * (ulong)MathRand() / 32767;
  ulong askedMs = RetryAfterMs(headers);
  waitUntilMs = nowMs + (askedMs > 0 ? askedMs + (ulong)MathRand() % BACKOFF_MIN_MS : pauseMs);
  if(error == 4014)
    SayFailure("this terminal does not allow the address. Open Tools > Options > Expert Advisors, allow WebRequest and add " + baseUrl);
  else if(status == 413)
    SayFailure("a batch was too large; sending half of it.");
  else if(status >= 100 && status < 600)
    SayFailure(path + " was answered with " + IntegerToString(status) + " " + DetailOf(answer) + " Trying again.");
  else
    SayFailure("no answer from " + baseUrl + " (error " + IntegerToString(error) + "). Trying again.");
}

// Sends one request and waits for its answer, at most TIMEOUT_MS. Returns the status; anything but 200 is not done.
int Call(string method, string path, string body, string &answer)
{
  char data[];
  char result[];
  string answerHeaders = "";
  string headers = "Authorization: Bearer " + InpKey + "\r\nContent-Type: application/x-ndjson\r\n";
  if(body != "")
    // Without the zero that ends a string.
    ArrayResize(data, StringToCharArray(body, data, 0, WHOLE_ARRAY, CP_UTF8) - 1);
  ResetLastError();
  int status = WebRequest(method, baseUrl + path, headers, TIMEOUT_MS, data, result, answerHeaders);
  int error = GetLastError();
  answer = CharArrayToString(result, 0, WHOLE_ARRAY, CP_UTF8);
  if(status != 200 && !(status == 404 && StringFind(answer, "\"unknown_ticker\"") >= 0))
  {
    Failed(path, status, error, answer, answerHeaders);
    return(status);
  }
  if(failures > 0)
    Say("the service answers again.");
  failures = 0;
  lastFailure = "";
  return(status);
}

// Counts the reasons of a receipt. A new one goes to the journal.
void CountReasons(string answer, string of)
{
  string list[];
  int count = StringSplit(Between(answer, "\"reasons\":{", "}"), ',', list);
  for(int i = 0; i < count; i++)
  {
    string name = of + Between(list[i], "\"", "\"");
    long refused = StringToInteger(Between(list[i], ":", ""));
    if(refused <= 0)
      continue;
    int known = 0;
    while(known < ArraySize(reasons) && reasons[known].name != name)
      known++;
    if(known == REASONS_MAX_COUNT)
      continue;
    if(known == ArraySize(reasons))
    {
      ArrayResize(reasons, known + 1);
      reasons[known].name = name;
      reasons[known].count = 0;
      Say("the service refused " + IntegerToString(refused) + ": " + name + ". The next ones are counted.");
    }
    reasons[known].count += refused;
  }
}

//+------------------------------------------------------------------+
//| State: what the service has, and which minutes it lacks           |
//+------------------------------------------------------------------+
string StatePath(int f)
{
  return("/api/v1/ingest/state?tickers=" + feeds[f].ticker);
}

void AddSpan(int f, long from, long to)
{
  if(from >= to)
    return;
  int count = ArraySize(spans);
  ArrayResize(spans, count + 1);
  spans[count].feed = f;
  spans[count].from = from;
  spans[count].to = to;
}

void RemoveSpansOf(int f)
{
  int kept = 0;
  for(int i = 0; i < ArraySize(spans); i++)
  {
    if(spans[i].feed == f)
      continue;
    spans[kept].feed = spans[i].feed;
    spans[kept].from = spans[i].from;
    spans[kept].to = spans[i].to;
    kept++;
  }
  ArrayResize(spans, kept);
}

// Plans to send the missing minutes of an answer, from `oldest` up to the gap.
void PlanMissing(int f, string answer, long oldest, long gap)
{
  string list[];
  string missing = Between(answer, "\"missing\":[", "]");
  int count = StringSplit(missing, '}', list);
  for(int i = 0; i < count; i++)
  {
    long from = StringToInteger(Between(list[i], "\"from\":", ",}"));
    if(from == 0)
      continue;
    long to = StringToInteger(Between(list[i], "\"to\":", ",}"));
    // The service may have seen a part of the minutes before and after.
    AddSpan(f, from - 60 < oldest ? oldest : from - 60, to + 60 > gap ? gap : to + 60);
  }
}

// Plans which minutes to send: those that the service lacks, and all since the gap. An answer has the newest ranges; it names
// where earlier ones end. False when the service did not answer.
bool PlanSpans(int f, string answer, long openS)
{
  RemoveSpansOf(f);
  if(InpCatchUpDays == 0)
  {
    feeds[f].gap = 0;
    return(true);
  }
  long oldest = openS - (long)InpCatchUpDays * DAY_S;
  long gap = feeds[f].gap == 0 ? openS : feeds[f].gap;
  if(gap < oldest)
    gap = oldest;
  AddSpan(f, gap, openS);
  for(int page = 1; page <= PAGES_MAX_COUNT; page++)
  {
    PlanMissing(f, answer, oldest, gap);
    string before = Between(answer, "\"missing_before\":", ",}");
    if(page == PAGES_MAX_COUNT || StringToInteger(before) <= oldest)
      break;
    if(Call("GET", StatePath(f) + "&before=" + before, "", answer) != 200)
      return(false);
  }
  return(true);
}

// Compares the service's clock with server time minus the offset: whoever stamps prices wrongly must not send them.
bool ClockAgrees(long serviceMs)
{
  long aheadMs = NowUtcMs() - serviceMs;
  bool agrees = aheadMs < CLOCK_MAX_ERROR_MS && aheadMs > -CLOCK_MAX_ERROR_MS;
  if(!agrees && !clockWrong)
    Warn("server time minus " + Minutes(offsetS) + " is " + IntegerToString(aheadMs / 1000) +
         " seconds ahead of the service. Nothing is sent. Check the clock of this computer, or set InpServerOffsetMinutes.");
  clockWrong = !agrees;
  return(agrees);
}

// Asks what the service has of a feed. Its ticks go on from the minute that is open; earlier minutes are sent as klines.
void Ask(int f, ulong nowMs)
{
  string answer = "";
  int status = Call("GET", StatePath(f), "", answer);
  if(status == 404 && failures == 0)
  {
    Warn("the service has no instrument " + feeds[f].ticker + ", or the key may not push it. Add it there, or write " + feeds[f].symbol +
         "=TICKER in InpSymbols. Asked again in 10 minutes.");
    feeds[f].askAtMs = nowMs + UNKNOWN_PAUSE_MS;
  }
  if(status != 200)
    return;
  long serviceMs = StringToInteger(Between(answer, "\"server_time_msc\":", ",}"));
  if(!ClockAgrees(serviceMs))
  {
    feeds[f].askAtMs = nowMs + REFUSED_PAUSE_MS;
    return;
  }
  // The minute before is about to close: its ticks would come too late, and it cannot be sent yet.
  if(serviceMs % MINUTE_MS < SETTLE_MS)
  {
    feeds[f].askAtMs = nowMs + (ulong)(SETTLE_MS - serviceMs % MINUTE_MS);
    return;
  }
  long openMs = serviceMs - serviceMs % MINUTE_MS;
  long openMark = openMs + (long)offsetS * 1000;
  if(feeds[f].mark > 0 && feeds[f].mark < openMark)
    NoteGap(f, feeds[f].mark / 1000 - offsetS);
  if(feeds[f].mark < openMark)
  {
    feeds[f].mark = openMark;
    feeds[f].skip = 0;
  }
  bool planned = PlanSpans(f, answer, openMs / 1000);
  SaveMarks(f);
  historyTries = 0;
  feeds[f].due = !planned;
}

// Asks for the next feed that waits for it. False if none does.
bool AskNext(ulong nowMs)
{
  for(int f = 0; f < ArraySize(feeds); f++)
  {
    if(!feeds[f].due || !feeds[f].selected || nowMs < feeds[f].askAtMs)
      continue;
    Ask(f, nowMs);
    return(true);
  }
  return(false);
}

//+------------------------------------------------------------------+
//| Ticks                                                            |
//+------------------------------------------------------------------+
// Adds the next ticks of a feed to a batch, at most `room`. Returns their number.
int Collect(int f, int room, string &body)
{
  MqlTick ticks[];
  feeds[f].nextMark = feeds[f].mark;
  feeds[f].nextSkip = feeds[f].skip;
  feeds[f].firstMs = 0;
  // From the last answered millisecond itself: several ticks share one.
  int got = CopyTicks(feeds[f].symbol, ticks, COPY_TICKS_INFO, (ulong)feeds[f].mark, (uint)(feeds[f].skip + room));
  int passed = 0;
  int count = 0;
  string start = "{\"ticker\":\"" + feeds[f].ticker + "\",\"time_msc\":";
  // Nothing, or -1 while the terminal loads: the next timer asks again.
  for(int i = 0; i < got && count < room; i++)
  {
    long time = (long)ticks[i].time_msc;
    if(time < feeds[f].mark)
      continue;
    if(time == feeds[f].mark && passed < feeds[f].skip)
    {
      passed++;
      continue;
    }
    if(time != feeds[f].nextMark)
    {
      feeds[f].nextMark = time;
      feeds[f].nextSkip = 0;
    }
    feeds[f].nextSkip++;
    if(ticks[i].bid <= 0 || ticks[i].ask <= 0)
      continue;
    long utcMs = time - (long)offsetS * 1000;
    if(count == 0)
      feeds[f].firstMs = utcMs;
    body += start + IntegerToString(utcMs) + ",\"bid\":" + DoubleToString(ticks[i].bid, feeds[f].digits) + ",\"ask\":" +
            DoubleToString(ticks[i].ask, feeds[f].digits) + "}\n";
    if(utcMs > newestTickMs)
      newestTickMs = utcMs;
    count++;
  }
  return(count);
}

// Moves the marks of all feeds past the current batch.
void Advance()
{
  for(int f = 0; f < ArraySize(feeds); f++)
  {
    if(feeds[f].nextMark == feeds[f].mark && feeds[f].nextSkip == feeds[f].skip)
      continue;
    feeds[f].mark = feeds[f].nextMark;
    feeds[f].skip = feeds[f].nextSkip;
    SaveMarks(f);
  }
}

// Reads the receipt of a batch of ticks.
void Receive(string answer, int count)
{
  long accepted = StringToInteger(Between(answer, "\"accepted\":", ",}"));
  string refused = Between(answer, "\"reasons\":{", "}");
  CountReasons(answer, "");
  if(StringToInteger(Between(refused, "\"in_future\":", ",}")) == count)
  {
    halted = true;
    Warn("the service says that all ticks are in the future: server time minus " + Minutes(offsetS) +
         " is not UTC. Nothing more is sent. Check the clock of this computer or set InpServerOffsetMinutes, then attach the Expert Advisor again.");
    return;
  }
  Advance();
  sentTicks += count;
  acceptedTicks += accepted;
  if(StringFind(refused, "\"too_late\"") < 0)
    return;
  // Their minutes were closed without them.
  long openMs = NowUtcMs() - NowUtcMs() % MINUTE_MS;
  for(int f = 0; f < ArraySize(feeds); f++)
  {
    if(feeds[f].firstMs == 0 || feeds[f].firstMs >= openMs)
      continue;
    NoteGap(f, feeds[f].firstMs / 1000);
    feeds[f].due = true;
  }
}

// Sends the next batch of ticks, of all symbols in turn.
void SendTicks()
{
  string body = "";
  string answer = "";
  int count = 0;
  int total = ArraySize(feeds);
  for(int i = 0; i < total; i++)
  {
    int f = (firstFeed + i) % total;
    feeds[f].firstMs = 0;
    feeds[f].nextMark = feeds[f].mark;
    feeds[f].nextSkip = feeds[f].skip;
    if(!feeds[f].due && feeds[f].selected && count < batchTicks)
      count += Collect(f, batchTicks - count, body);
  }
  firstFeed = (firstFeed + 1) % total;
  if(count == 0)
  {
    // What was passed over was no quote.
    Advance();
    return;
  }
  int status = Call("POST", "/api/v1/ingest/ticks", body, answer);
  if(status == 200)
    Receive(answer, count);
  if(status == 413 && batchTicks > 1)
    batchTicks = batchTicks / 2;
}

//+------------------------------------------------------------------+
//| Minutes                                                          |
//+------------------------------------------------------------------+
// Tells the two usual clocks apart by the weeks in which only one of Europe and the US has summer time: on the wrong clock,
// bars are in hours in which forex is closed. CLOCK_AUTO if that is not possible; `ready` is false while the terminal loads.
HistoryClock ClockByBars(int f, bool &ready)
{
  MqlRates rates[];
  long now = (long)TimeTradeServer();
  int got = CopyRates(feeds[f].symbol, PERIOD_H1, (datetime)(now - CLOCK_EVIDENCE_DAYS * DAY_S), (datetime)now, rates);
  ready = got > 0;
  if(!ready)
    return(CLOCK_AUTO);
  int differing = 0;
  int closedEet = 0;
  int closedNewYork = 0;
  for(int i = 0; i < got; i++)
  {
    long eet = PastUtc(CLOCK_EET, (long)rates[i].time);
    long newYork = PastUtc(CLOCK_NEW_YORK_7, (long)rates[i].time);
    if(eet == newYork)
      continue;
    differing++;
    closedEet += IsWeekend(eet) ? 1 : 0;
    closedNewYork += IsWeekend(newYork) ? 1 : 0;
  }
  if(closedEet == closedNewYork)
    return(differing == 0 ? CLOCK_EET : CLOCK_AUTO);
  return(closedEet < closedNewYork ? CLOCK_EET : CLOCK_NEW_YORK_7);
}

// Decides on which clock past minutes are. False while that is open.
bool FindHistoryClock(int f)
{
  if(historyClock != CLOCK_AUTO)
    return(true);
  long nowS = NowUtcMs() / 1000;
  bool eet = OffsetAt(CLOCK_EET, nowS) == offsetS;
  bool newYork = OffsetAt(CLOCK_NEW_YORK_7, nowS) == offsetS;
  bool ready = true;
  if(InpHistoryClock != CLOCK_AUTO)
    historyClock = OffsetAt(InpHistoryClock, nowS) == offsetS ? InpHistoryClock : CLOCK_AUTO;
  else if(eet && newYork)
    historyClock = ClockByBars(f, ready);
  else if(eet || newYork)
    historyClock = eet ? CLOCK_EET : CLOCK_NEW_YORK_7;
  if(historyClock == CLOCK_AUTO && ready && !historyRefused)
  {
    historyRefused = true;
    Warn("the clock of past minutes is not known (server time is " + Minutes(offsetS) +
         " ahead of UTC now), so missing minutes are not filled. Set InpHistoryClock.");
  }
  return(historyClock != CLOCK_AUTO);
}

bool IsInSpans(int f, long utcS)
{
  for(int i = 0; i < ArraySize(spans); i++)
    if(spans[i].feed == f && utcS >= spans[i].from && utcS < spans[i].to)
      return(true);
  return(false);
}

// One line of a batch of klines. Bars are of bid prices; their spread is in points.
string KlineLine(int f, long utcS, MqlRates &bar)
{
  int digits = feeds[f].digits;
  return("{\"ticker\":\"" + feeds[f].ticker + "\",\"time\":" + IntegerToString(utcS) +
         ",\"open\":" + DoubleToString(bar.open, digits) + ",\"high\":" + DoubleToString(bar.high, digits) +
         ",\"low\":" + DoubleToString(bar.low, digits) + ",\"close\":" + DoubleToString(bar.close, digits) +
         ",\"tick_volume\":" + IntegerToString(bar.tick_volume) +
         (bar.spread > 0 ? ",\"spread\":" + DoubleToString(bar.spread * feeds[f].point, digits) : "") + "}\n");
}

// Removes what is done from the spans of a feed: everything before `untilS`. The gap is closed with the last one.
void Done(int f, long untilS)
{
  bool left = false;
  for(int i = 0; i < ArraySize(spans); i++)
  {
    if(spans[i].feed != f)
      continue;
    if(spans[i].from < untilS)
      spans[i].from = untilS < spans[i].to ? untilS : spans[i].to;
    left = left || spans[i].from < spans[i].to;
  }
  historyTries = 0;
  if(left)
    return;
  RemoveSpansOf(f);
  // Noted again since: the service is asked first.
  if(!feeds[f].due)
    feeds[f].gap = 0;
  SaveMarks(f);
}

// The first minute of a feed that is still to be sent.
long FirstMinute(int f)
{
  long first = 0;
  for(int i = 0; i < ArraySize(spans); i++)
    if(spans[i].feed == f && spans[i].from < spans[i].to && (first == 0 || spans[i].from < first))
      first = spans[i].from;
  return(first);
}

// Sends the next minutes of the first feed that lacks some.
void SendMinutes(ulong nowMs)
{
  if(ArraySize(spans) == 0 || nowMs < historyAtMs)
    return;
  int f = spans[0].feed;
  if(!FindHistoryClock(f))
  {
    historyAtMs = nowMs + HISTORY_PAUSE_MS;
    return;
  }
  MqlRates rates[];
  string body = "";
  string answer = "";
  int count = 0;
  long from = FirstMinute(f);
  long to = from + (long)batchKlines * 60;
  int got = CopyRates(feeds[f].symbol, PERIOD_M1, (datetime)(from + OffsetAt(historyClock, from)),
                      (datetime)(to + OffsetAt(historyClock, to)), rates);
  // The first calls find nothing while the terminal loads its history.
  if(got <= 0 && historyTries < HISTORY_TRIES_MAX_COUNT)
  {
    historyTries++;
    historyAtMs = nowMs + HISTORY_PAUSE_MS;
    return;
  }
  for(int i = 0; i < got && count < batchKlines; i++)
  {
    long utcS = PastUtc(historyClock, (long)rates[i].time);
    if(utcS < from || utcS >= to || !IsInSpans(f, utcS))
      continue;
    body += KlineLine(f, utcS, rates[i]);
    count++;
  }
  if(count == 0)
  {
    Done(f, to);
    return;
  }
  int status = Call("POST", "/api/v1/ingest/klines?replace=gaps", body, answer);
  if(status == 413 && batchKlines > 1)
    batchKlines = batchKlines / 2;
  if(status != 200)
    return;
  sentKlines += count;
  acceptedKlines += StringToInteger(Between(answer, "\"accepted\":", ",}"));
  CountReasons(answer, "minutes: ");
  Done(f, to);
}

//+------------------------------------------------------------------+
//| Every timer                                                      |
//+------------------------------------------------------------------+
// Symbols that are not in Market Watch have no ticks. One may appear later.
void SelectSymbols(ulong nowMs)
{
  for(int f = 0; f < ArraySize(feeds); f++)
  {
    if(feeds[f].selected || nowMs < feeds[f].selectAtMs)
      continue;
    if(SymbolSelect(feeds[f].symbol, true))
    {
      feeds[f].selected = true;
      feeds[f].digits = (int)SymbolInfoInteger(feeds[f].symbol, SYMBOL_DIGITS);
      feeds[f].point = SymbolInfoDouble(feeds[f].symbol, SYMBOL_POINT);
      continue;
    }
    if(feeds[f].selectAtMs == 0)
      Warn("this terminal has no symbol " + feeds[f].symbol + ". Write it as in Market Watch, with its suffix. Tried again every minute.");
    feeds[f].selectAtMs = nowMs + SELECT_PAUSE_MS;
  }
}

// The line of the journal that says how it goes.
void Report()
{
  string text = IntegerToString(ArraySize(feeds)) + " symbols; ticks: " + IntegerToString(sentTicks) + " sent, " +
                IntegerToString(acceptedTicks) + " accepted; minutes: " + IntegerToString(sentKlines) + " sent, " +
                IntegerToString(acceptedKlines) + " accepted";
  for(int i = 0; i < ArraySize(reasons); i++)
    text += (i == 0 ? "; refused: " : ", ") + reasons[i].name + " " + IntegerToString(reasons[i].count);
  text += "; server time " + Minutes(offsetS) + " ahead of UTC";
  if(newestTickMs > 0)
    text += "; newest tick " + IntegerToString((NowUtcMs() - newestTickMs) / 1000) + " s old";
  if(failures > 0)
    text += "; failing since " + IntegerToString((long)(GetTickCount64() - failingSinceMs) / 1000) + " s";
  Say(text + ".");
}

void Work()
{
  ulong nowMs = GetTickCount64();
  if(nowMs >= flushAtMs)
  {
    flushAtMs = nowMs + FLUSH_MS;
    GlobalVariablesFlush();
  }
  if(nowMs >= reportAtMs)
  {
    reportAtMs = nowMs + REPORT_MS;
    Report();
  }
  if(!TerminalInfoInteger(TERMINAL_CONNECTED))
    return;
  // This computer slept, or the broker was not there.
  if(nowMs - connectedAtMs > AWAY_MS)
    AskForAll();
  connectedAtMs = nowMs;
  if(halted || nowMs < waitUntilMs)
    return;
  SelectSymbols(nowMs);
  if(!FindOffset(nowMs) || AskNext(nowMs))
    return;
  SendTicks();
  if(failures == 0 && !halted)
    SendMinutes(nowMs);
}

void OnTimer()
{
  // A request takes longer than the timer's period.
  if(busy)
    return;
  busy = true;
  Work();
  busy = false;
}

void OnTick()
{
  // Ticks of one chart's symbol alone: all are read by the timer.
}

//+------------------------------------------------------------------+
//| Start and end                                                    |
//+------------------------------------------------------------------+
// Capital letters and digits, as tickers are.
bool IsTicker(string text)
{
  for(int i = 0; i < StringLen(text); i++)
    if(StringFind("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", StringSubstr(text, i, 1)) < 0)
      return(false);
  return(StringLen(text) >= 3 && StringLen(text) <= 20);
}

// HTTPS, or this machine.
bool IsSafe(string url)
{
  if(StringFind(url, "https://") == 0)
    return(StringLen(url) > 8);
  string host = Between(url, "http://", ":/");
  return(StringFind(url, "http://") == 0 && (host == "localhost" || host == "127.0.0.1"));
}

// Reads InpSymbols: "EURUSD,GOLD.pro=XAUUSD".
bool ReadSymbols()
{
  string list[];
  int count = StringSplit(InpSymbols, ',', list);
  ArrayResize(feeds, 0);
  for(int i = 0; i < count; i++)
  {
    string names[];
    StringTrimLeft(list[i]);
    StringTrimRight(list[i]);
    if(list[i] == "")
      continue;
    bool named = StringSplit(list[i], '=', names) == 2;
    string ticker = named ? names[1] : list[i];
    if(!IsTicker(ticker))
    {
      Warn("InpSymbols: " + ticker + " is not a ticker (capital letters and digits). Write SYMBOL=TICKER, for example GOLD.pro=XAUUSD.");
      return(false);
    }
    int f = ArraySize(feeds);
    if(f == SYMBOLS_MAX_COUNT)
    {
      Warn("InpSymbols: at most " + IntegerToString(SYMBOLS_MAX_COUNT) + " symbols.");
      return(false);
    }
    ArrayResize(feeds, f + 1);
    feeds[f].symbol = names[0];
    feeds[f].ticker = ticker;
    feeds[f].digits = 5;
    feeds[f].point = 0.00001;
    feeds[f].selected = false;
    feeds[f].selectAtMs = 0;
    feeds[f].due = true;
    feeds[f].askAtMs = 0;
    feeds[f].firstMs = 0;
    RestoreMarks(f);
    feeds[f].nextMark = feeds[f].mark;
    feeds[f].nextSkip = feeds[f].skip;
  }
  if(ArraySize(feeds) == 0)
    Warn("InpSymbols names no symbol.");
  return(ArraySize(feeds) > 0);
}

// Checks the inputs, and says what is wrong with them.
bool ReadInputs()
{
  baseUrl = InpUrl;
  while(StringLen(baseUrl) > 1 && StringSubstr(baseUrl, StringLen(baseUrl) - 1, 1) == "/")
    baseUrl = StringSubstr(baseUrl, 0, StringLen(baseUrl) - 1);
  string wrong = "";
  if(!IsSafe(baseUrl))
    wrong = "InpUrl must begin with https://. Plain http:// is for localhost only.";
  else if(StringFind(InpKey, "_live_") < 0)
    wrong = "InpKey must be a key of the live venue (with _live_ in it) with the scope market:ingest.";
  else if(InpServerOffsetMinutes != OFFSET_FIND_OUT &&
          (InpServerOffsetMinutes > OFFSET_MAX_MINUTES || InpServerOffsetMinutes < -OFFSET_MAX_MINUTES))
    wrong = "InpServerOffsetMinutes must be between -840 and 840, or 9999.";
  else if(InpIntervalMs < 250 || InpIntervalMs > 60000)
    wrong = "InpIntervalMs must be between 250 and 60000.";
  else if(InpCatchUpDays < 0 || InpCatchUpDays > 39)
    wrong = "InpCatchUpDays must be between 0 and 39.";
  if(wrong != "")
    Warn(wrong);
  return(wrong == "" && ReadSymbols());
}

int OnInit()
{
  if(MQLInfoInteger(MQL_TESTER) != 0)
  {
    Say("does not run in the strategy tester: its ticks are not of now.");
    return(INIT_FAILED);
  }
  if(!ReadInputs())
    return(INIT_PARAMETERS_INCORRECT);
  ulong nowMs = GetTickCount64();
  MathSrand((int)(nowMs % 32768));
  halted = false;
  failures = 0;
  waitUntilMs = 0;
  connectedAtMs = nowMs;
  flushAtMs = nowMs + FLUSH_MS;
  reportAtMs = nowMs + REPORT_MS;
  offsetKnown = GlobalVariableCheck("Spotwire.offset");
  offsetS = (int)SavedNumber("Spotwire.offset");
  ArrayResize(spans, 0);
  if(!EventSetMillisecondTimer(InpIntervalMs))
  {
    Warn("this terminal gives no timer. Attach the Expert Advisor again.");
    return(INIT_FAILED);
  }
  Say("sends " + IntegerToString(ArraySize(feeds)) + " symbols to " + baseUrl + ".");
  return(INIT_SUCCEEDED);
}

void OnDeinit(const int reason)
{
  EventKillTimer();
  GlobalVariablesFlush();
}
