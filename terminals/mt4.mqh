#property copyright   "fxd, Apache-2.0"
#property version     "1.0"
#property description "Posts the bars of this terminal to the collector of its feed. For up to 200 symbols."
#property strict

enum BridgeRole {
  Both=0,
  Live=1,
  History=2
};

input string     Address="http://127.0.0.1:8091"; // Address of the collector
input string     Token="";                        // Token of the feed: fxt_...
input BridgeRole Role=Both;                       // Both, or Live and History on two charts
input int        MemoryMb=1500;                   // Reading history pauses above this memory of the terminal, in MB

// What differs between the terminals.

long quoteTime=0; // of the last quote
long quoteAt=0;   // when it was first seen, in milliseconds

// Frames of the resolutions, in the order of `Resolutions`. PERIOD_CURRENT: this terminal has none.
const ENUM_TIMEFRAMES Frames[10]={
  PERIOD_M1,PERIOD_M5,PERIOD_CURRENT,PERIOD_M15,
  PERIOD_H1,PERIOD_CURRENT,PERIOD_H4,PERIOD_D1,PERIOD_W1,PERIOD_MN1
};

string TerminalKind() {
  return "MT4";
}

long Millis() {
  return (long)(GetMicrosecondCount()/1000);
}

// The broker's clock now. MetaTrader 4 knows only the time of the last quote.
long ServerTime() {
  if((long)TimeCurrent()!=quoteTime) {
    quoteTime=(long)TimeCurrent();
    quoteAt=Millis();
  }
  return quoteTime+(Millis()-quoteAt)/1000;
}

// MetaTrader 4 does not say whether a series is whole; IsLoadingError does it by the last copy.
bool IsLoaded(const string raw,const ENUM_TIMEFRAMES frame) {
  return SeriesInfoInteger(raw,frame,SERIES_BARS_COUNT)>0;
}

// 4066: the series is being updated; it also comes beside valid bars. 4073: no bars yet.
bool IsLoadingError(const int number) {
  return number==4066 || number==4073;
}

// Only symbols of the Market Watch: MetaTrader 4 does not tell the digits of others.
int ListedCount() {
  return SymbolsTotal(true);
}

string ListedName(const int at) {
  return SymbolName(at,true);
}

// Why there was no answer, by the error of WebRequest.
string SentenceOf(const int number) {
  if(number==4014 || number==4060) return "Allow "+Address+" in Tools > Options > Expert Advisors";
  if(number==5200) return "The terminal cannot read the address "+Address;
  if(number==5201) return "Nothing answers at "+Address+"; trying again";
  if(number==5202) return "The collector at "+Address+" did not answer in time; posting again";
  return "The post to "+Address+" failed; posting again";
}

//--- bridge.mqh

int OnInit() {
  if(!Begin()) return INIT_PARAMETERS_INCORRECT;
  EventSetMillisecondTimer(50);
  return INIT_SUCCEEDED;
}

void OnTimer() {
  Step();
}

void OnDeinit(const int reason) {
  EventKillTimer();
}
