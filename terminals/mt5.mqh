#property copyright   "fxd, Apache-2.0"
#property version     "1.0"
#property description "Posts the bars of this terminal to the collector of its feed."
#property service
#property strict

enum BridgeRole {
  Both=0,
  Live=1,
  History=2
};

input string     Address="http://127.0.0.1:8091"; // Address of the collector
input string     Token="";                        // Token of the feed: fxt_...
input BridgeRole Role=Both;                       // Both, or Live and History in two instances
input int        MemoryMb=4096;                   // Reading history pauses above this memory of the terminal, in MB

// What differs between the terminals.

// Frames of the resolutions, in the order of `Resolutions`. PERIOD_CURRENT: this terminal has none.
const ENUM_TIMEFRAMES Frames[10]={
  PERIOD_M1,PERIOD_M5,PERIOD_M10,PERIOD_M15,
  PERIOD_H1,PERIOD_H2,PERIOD_H4,PERIOD_D1,PERIOD_W1,PERIOD_MN1
};

string TerminalKind() {
  return "MT5";
}

long Millis() {
  return (long)(GetMicrosecondCount()/1000);
}

// The broker's clock now, by the last quotes and the clock of this machine.
long ServerTime() {
  return (long)TimeTradeServer();
}

bool IsLoaded(const string raw,const ENUM_TIMEFRAMES frame) {
  return SeriesInfoInteger(raw,frame,SERIES_SYNCHRONIZED)!=0;
}

// 4403: the series did not come in time. 4405: an error while it was loaded.
bool IsLoadingError(const int number) {
  return number==4403 || number==4405;
}

// All symbols of the broker.
int ListedCount() {
  return SymbolsTotal(false);
}

string ListedName(const int at) {
  return SymbolName(at,false);
}

// Why there was no answer, by the error of WebRequest.
string SentenceOf(const int number) {
  if(number==4014 || number==4060) return "Allow "+Address+" in Tools > Options > Expert Advisors";
  if(number==5200) return "The terminal cannot read the address "+Address;
  if(number==5201 || number==5272) return "Nothing answers at "+Address+"; trying again";
  if(number==5202) return "The collector at "+Address+" did not answer in time; posting again";
  if(number==5274 || number==5275) return "This machine does not trust the certificate of "+Address;
  return "The post to "+Address+" failed; posting again";
}

//--- bridge.mqh

// How long nothing is due, in milliseconds.
int RestMs() {
  long now=Millis();
  if(session==0) return (int)MathMax((long)10,MathMin(postAt-now,(long)250));
  if(isListWanted || (ArraySize(wants)>0 && now>=historyAt)) return 1;
  return (ServerTime()+2)%60<5 ? (int)MathMax((long)1,50-(now-sweptAt)) : 250;
}

void OnStart() {
  if(!Begin()) return;
  while(!IsStopped()) {
    Step();
    Sleep(RestMs());
  }
}
