// What the Expert Advisor uses of MQL5, for a C++ compiler: types, arrays, and a terminal whose market comes from files and
// whose time is virtual. Every function behaves as MetaQuotes' reference describes it.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

using std::string;
typedef long datetime;
typedef unsigned long ulong;
typedef unsigned int uint;

/** A dynamic array; an index outside ends the program, as it ends an Expert Advisor. */
template <class T> struct Array {
  std::vector<T> items;
  T &operator[](long at) {
    if (at < 0 || at >= (long)items.size()) {
      fprintf(stderr, "array out of range: %ld of %zu\n", at, items.size());
      abort();
    }
    return items[at];
  }
};
template <class T> int ArraySize(Array<T> &array) { return (int)array.items.size(); }
template <class T> int ArrayResize(Array<T> &array, int size) {
  array.items.resize(size < 0 ? 0 : size);
  return ArraySize(array);
}

struct MqlTick {
  datetime time;
  double bid, ask, last;
  ulong volume;
  long time_msc;
  uint flags;
};
struct MqlRates {
  datetime time;
  double open, high, low, close;
  long tick_volume;
  int spread;
  long real_volume;
};
struct MqlDateTime {
  int year, mon, day, hour, min, sec, day_of_week, day_of_year;
};

enum { MQL_TESTER, TERMINAL_CONNECTED, SYMBOL_DIGITS, SYMBOL_POINT, COPY_TICKS_INFO, PERIOD_M1 = 1, PERIOD_H1 = 60 };
enum { INIT_SUCCEEDED = 0, INIT_FAILED = 1, INIT_PARAMETERS_INCORRECT = 32767 };
const int WHOLE_ARRAY = -1;
const uint CP_UTF8 = 65001;

void Print(string text);
void Alert(string text);
int StringFind(string text, string part);
int StringLen(string text);
string StringSubstr(string text, int start, int length);
int StringSplit(string text, char separator, Array<string> &parts);
int StringTrimLeft(string &text);
int StringTrimRight(string &text);
bool StringToLower(string &text);
long StringToInteger(string text);
int StringToCharArray(string text, Array<char> &array, int start, int count, uint codepage);
string CharArrayToString(Array<char> &array, int start, int count, uint codepage);
string IntegerToString(long number);
string DoubleToString(double number, int digits);
double MathRound(double number);
int MathRand();
void MathSrand(int seed);
bool TimeToStruct(datetime time, MqlDateTime &parts);
datetime StructToTime(MqlDateTime &parts);
datetime TimeTradeServer();
datetime TimeGMT();
ulong GetTickCount64();
bool EventSetMillisecondTimer(int period);
void EventKillTimer();
bool GlobalVariableCheck(string name);
double GlobalVariableGet(string name);
datetime GlobalVariableSet(string name, double value);
void GlobalVariablesFlush();
long MQLInfoInteger(int property);
long TerminalInfoInteger(int property);
bool SymbolSelect(string symbol, bool select);
long SymbolInfoInteger(string symbol, int property);
double SymbolInfoDouble(string symbol, int property);
int CopyTicks(string symbol, Array<MqlTick> &ticks, uint flags, ulong from, uint count);
int CopyRates(string symbol, int timeframe, datetime start, datetime stop, Array<MqlRates> &rates);
void ResetLastError();
int GetLastError();
int WebRequest(string method, string url, string headers, int timeout, Array<char> &data, Array<char> &result, string &answerHeaders);

/** One version of the Expert Advisor. */
struct Advisor {
  int (*init)();
  void (*timer)();
  void (*deinit)(int);
  bool (*input)(const string &name, const string &value);
};
extern std::map<string, Advisor> advisors;

inline void assignInput(string &input, const string &value) { input = value; }
template <class T> void assignInput(T &input, const string &value) { input = (T)atol(value.c_str()); }
