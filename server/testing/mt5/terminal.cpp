// A terminal that runs one version of the Expert Advisor against a market from files, in virtual time. Arguments are
// name=value: advisor, ticks, bars, globals, zone (utc seconds:offset;…), start, end, and input.NAME for each input;
// optional: tester, disallowed, crash, gmt (error of this computer's clock, seconds).
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace {
std::map<string, string> arguments;
std::map<string, std::vector<MqlTick>> ticksOf;
std::map<string, std::vector<long>> arrivalsOf;
std::map<string, std::vector<MqlRates>> barsOf;
std::map<string, int> digitsOf;
std::map<string, double> globals, flushed;
std::vector<std::pair<long, long>> offsets;
long startMs = 0, nowMs = 0, period = 0;
int lastError = 0;
/** A round trip takes so long where the service does not say. */
const long ROUND_TRIP_MS = 20;

long numberOf(const string &name, long otherwise) {
  return arguments.count(name) ? atol(arguments[name].c_str()) : otherwise;
}

long offsetAt(long utcS) {
  long offset = offsets.empty() ? 0 : offsets[0].second;
  for (auto &[from, value] : offsets)
    if (utcS >= from) offset = value;
  return offset;
}

std::vector<string> cells(const string &line) {
  std::vector<string> parts;
  std::stringstream stream(line);
  for (string cell; std::getline(stream, cell, ',');) parts.push_back(cell);
  return parts;
}

int decimals(const string &price) {
  auto point = price.find('.');
  return point == string::npos ? 0 : (int)(price.size() - point - 1);
}

/** symbol,server ms,bid,ask,flags,server ms of its arrival */
void readTicks(const string &file) {
  std::ifstream in(file);
  for (string line; std::getline(in, line);) {
    auto c = cells(line);
    MqlTick tick{};
    tick.time_msc = atol(c[1].c_str());
    tick.time = tick.time_msc / 1000;
    tick.bid = atof(c[2].c_str());
    tick.ask = atof(c[3].c_str());
    tick.flags = (uint)atol(c[4].c_str());
    ticksOf[c[0]].push_back(tick);
    arrivalsOf[c[0]].push_back(atol(c[5].c_str()));
    digitsOf[c[0]] = std::max(digitsOf[c[0]], decimals(c[2]));
  }
}

/** symbol,period in minutes,server s,open,high,low,close,tick volume,spread */
void readBars(const string &file) {
  std::ifstream in(file);
  for (string line; std::getline(in, line);) {
    auto c = cells(line);
    MqlRates bar{};
    bar.time = atol(c[2].c_str());
    bar.open = atof(c[3].c_str());
    bar.high = atof(c[4].c_str());
    bar.low = atof(c[5].c_str());
    bar.close = atof(c[6].c_str());
    bar.tick_volume = atol(c[7].c_str());
    bar.spread = atoi(c[8].c_str());
    barsOf[c[0] + ":" + c[1]].push_back(bar);
    digitsOf[c[0]] = std::max(digitsOf[c[0]], decimals(c[3]));
  }
}

void say(const char *kind, const string &text) {
  printf("%ld %s %s\n", nowMs, kind, text.c_str());
  fflush(stdout);
}

/** What the connection brings until it ends. */
string readAll(int socket) {
  string answer;
  char buffer[65536];
  for (;;) {
    ssize_t got = recv(socket, buffer, sizeof buffer, 0);
    if (got <= 0) return answer;
    answer.append(buffer, got);
  }
}

/** Connects to http://host:port; -1 when that fails. */
int connectTo(const string &host, const string &port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = AF_INET;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  int channel = socket(found->ai_family, found->ai_socktype, 0);
  bool connected = connect(channel, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  if (!connected) {
    close(channel);
    return -1;
  }
  return channel;
}
}  // namespace

void Print(string text) { say("print", text); }
void Alert(string text) { say("alert", text); }

int StringFind(string text, string part) {
  auto at = text.find(part);
  return at == string::npos ? -1 : (int)at;
}
int StringLen(string text) { return (int)text.size(); }
string StringSubstr(string text, int start, int length) {
  return start >= (int)text.size() ? "" : text.substr(start, length < 0 ? string::npos : length);
}
int StringSplit(string text, char separator, Array<string> &parts) {
  parts.items.clear();
  std::stringstream stream(text);
  for (string part; std::getline(stream, part, separator);) parts.items.push_back(part);
  return (int)parts.items.size();
}
int StringTrimLeft(string &text) {
  auto blank = text.find_first_not_of(" \t\r\n");
  text = blank == string::npos ? "" : text.substr(blank);
  return 0;
}
int StringTrimRight(string &text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return 0;
}
bool StringToLower(string &text) {
  std::transform(text.begin(), text.end(), text.begin(), ::tolower);
  return true;
}
long StringToInteger(string text) { return atol(text.c_str()); }
int StringToCharArray(string text, Array<char> &array, int, int, uint) {
  array.items.assign(text.begin(), text.end());
  array.items.push_back(0);
  return (int)array.items.size();
}
string CharArrayToString(Array<char> &array, int, int, uint) { return string(array.items.begin(), array.items.end()); }
string IntegerToString(long number) { return std::to_string(number); }
string DoubleToString(double number, int digits) {
  char text[64];
  snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}
double MathRound(double number) { return std::round(number); }
int MathRand() { return rand() % 32768; }
void MathSrand(int seed) { srand((unsigned)seed); }

bool TimeToStruct(datetime time, MqlDateTime &parts) {
  tm utc;
  gmtime_r(&time, &utc);
  parts = {utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, utc.tm_wday, utc.tm_yday};
  return true;
}
datetime StructToTime(MqlDateTime &parts) {
  tm utc{};
  utc.tm_year = parts.year - 1900;
  utc.tm_mon = parts.mon - 1;
  utc.tm_mday = parts.day;
  utc.tm_hour = parts.hour;
  utc.tm_min = parts.min;
  utc.tm_sec = parts.sec;
  return timegm(&utc);
}
datetime TimeTradeServer() { return nowMs / 1000 + offsetAt(nowMs / 1000); }
datetime TimeGMT() { return nowMs / 1000 + numberOf("gmt", 0); }
ulong GetTickCount64() { return (ulong)(nowMs - startMs + 1000000); }
bool EventSetMillisecondTimer(int value) {
  period = value;
  return true;
}
void EventKillTimer() { period = 0; }

bool GlobalVariableCheck(string name) { return globals.count(name) > 0; }
double GlobalVariableGet(string name) { return globals[name]; }
datetime GlobalVariableSet(string name, double value) {
  globals[name] = value;
  return TimeTradeServer();
}
void GlobalVariablesFlush() { flushed = globals; }

long MQLInfoInteger(int) { return numberOf("tester", 0); }
long TerminalInfoInteger(int) { return 1; }
bool SymbolSelect(string symbol, bool) { return digitsOf.count(symbol) > 0; }
long SymbolInfoInteger(string symbol, int) { return digitsOf[symbol]; }
double SymbolInfoDouble(string symbol, int) { return std::pow(10, -digitsOf[symbol]); }

int CopyTicks(string symbol, Array<MqlTick> &ticks, uint, ulong from, uint count) {
  ticks.items.clear();
  auto &all = ticksOf[symbol];
  long serverMs = nowMs + offsetAt(nowMs / 1000) * 1000;
  auto first = std::lower_bound(all.begin(), all.end(), (long)from, [](const MqlTick &tick, long at) { return tick.time_msc < at; });
  auto arrival = arrivalsOf[symbol].begin() + (first - all.begin());
  for (; first != all.end() && *arrival <= serverMs && ticks.items.size() < count; first++, arrival++) ticks.items.push_back(*first);
  return (int)ticks.items.size();
}
int CopyRates(string symbol, int timeframe, datetime start, datetime stop, Array<MqlRates> &rates) {
  rates.items.clear();
  long serverS = nowMs / 1000 + offsetAt(nowMs / 1000);
  for (auto &bar : barsOf[symbol + ":" + std::to_string(timeframe)])
    if (bar.time >= start && bar.time <= stop && bar.time <= serverS) rates.items.push_back(bar);
  return rates.items.empty() ? -1 : (int)rates.items.size();
}

void ResetLastError() { lastError = 0; }
int GetLastError() { return lastError; }

/** As MetaTrader's. The service says in a word that it will not answer: then `timeout` of virtual time passes, and no real time. */
int WebRequest(string method, string url, string headers, int timeout, Array<char> &data, Array<char> &result, string &answerHeaders) {
  result.items.clear();
  if (numberOf("disallowed", 0)) {
    lastError = 4014;
    return -1;
  }
  size_t host = url.find("://") + 3, path = url.find('/', host), colon = url.find(':', host);
  string name = url.substr(host, colon - host), port = url.substr(colon + 1, path - colon - 1), answer;
  int channel = connectTo(name, port);
  nowMs += ROUND_TRIP_MS;
  if (channel < 0) {
    lastError = 5201;
    return -1;
  }
  string request = method + " " + url.substr(path) + " HTTP/1.1\r\nHost: " + name + ":" + port + "\r\nConnection: close\r\nX-Virtual-Now: " +
                   std::to_string(nowMs) + "\r\nContent-Length: " + std::to_string(data.items.size()) + "\r\n" + headers + "\r\n";
  request.append(data.items.begin(), data.items.end());
  bool sent = send(channel, request.data(), request.size(), MSG_NOSIGNAL) == (ssize_t)request.size();
  if (sent) answer = readAll(channel);
  bool inTime = answer != "SILENCE";
  close(channel);
  size_t end = answer.find("\r\n\r\n");
  if (!inTime || end == string::npos) {
    if (!inTime) nowMs += timeout;
    lastError = inTime ? 5203 : 5202;
    return -1;
  }
  answerHeaders = answer.substr(0, end + 2);
  string body = answer.substr(end + 4);
  result.items.assign(body.begin(), body.end());
  size_t serviceNow = answerHeaders.find("x-virtual-now: ");
  if (serviceNow != string::npos) nowMs = std::max(nowMs, atol(answerHeaders.c_str() + serviceNow + 15));
  return atoi(answer.c_str() + answer.find(' ') + 1);
}

int main(int count, char **given) {
  for (int i = 1; i < count; i++) {
    string argument = given[i];
    auto equals = argument.find('=');
    arguments[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  Advisor advisor = advisors.at(arguments["advisor"]);
  for (auto &[name, value] : arguments)
    if (name.rfind("input.", 0) == 0 && !advisor.input(name.substr(6), value)) {
      fprintf(stderr, "no such input: %s\n", name.c_str());
      return 2;
    }
  std::stringstream zone(arguments["zone"]);
  for (string part; std::getline(zone, part, ';');) offsets.push_back({atol(part.c_str()), atol(part.c_str() + part.find(':') + 1)});
  readTicks(arguments["ticks"]);
  readBars(arguments["bars"]);
  std::ifstream kept(arguments["globals"]);
  for (string line; std::getline(kept, line);) globals[cells(line)[0]] = atof(cells(line)[1].c_str());
  flushed = globals;
  startMs = nowMs = numberOf("start", 0);
  int outcome = advisor.init();
  if (outcome != INIT_SUCCEEDED) return 3;
  long endMs = numberOf("end", 0);
  for (long next = nowMs + period; next <= endMs; next = std::max(next + period, nowMs)) {
    nowMs = std::max(nowMs, next);
    advisor.timer();
  }
  // A terminal that is killed keeps what it has flushed.
  if (!numberOf("crash", 0)) advisor.deinit(1);
  std::ofstream keeping(arguments["globals"]);
  keeping.precision(17);
  for (auto &[name, value] : numberOf("crash", 0) ? flushed : globals) keeping << name << "," << value << "\n";
  return 0;
}
