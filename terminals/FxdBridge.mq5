// Made by make terminals from mt5.mqh and bridge.mqh. Not yet run in a real terminal.
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

// The program of both terminals. docs/terminal-protocol.md says what it posts and what it is told.

#define CODES         10     // resolutions
#define POST_BARS     5000   // bars of one post
#define POST_CHARS    300000 // characters after which a post is sent; at most 1 MiB as UTF-8
#define POST_EVERY_MS 45     // between two posts; the collector takes 25 a second
#define SYMBOLS_MAX   10000
#define WANTS_MAX     8
#define DAY           86400
const string Resolutions[CODES]={"1","5","10","15","60","120","240","1D","1W","1M"};
const long   Spans[CODES]={60,300,600,900,3600,7200,14400,DAY,7*DAY,31*DAY}; // seconds

struct BridgeSymbol {
  string raw;
  int    digits;
  long   tick;           // time of its last tick
  long   changedAt;      // when that changed, in milliseconds
  long   copied;         // time of its last tick when its M1 bars were copied; -1: copy them
  bool   mayTick;        // more ticks may have come within the second of `copied`
  long   newest[CODES];  // newest bar that the collector has; 0: none; -1: the series is not swept
  bool   due[CODES];     // a period ended: copy the series
  bool   late[CODES];    // the last copy failed
  int    tries[CODES];   // reads of its history that had no answer
  long   oldest[CODES];  // its first bar at that time
};
struct BridgeWant {
  int  at,code; // its symbol and resolution
  long begin,end;
  long from;   // what is before this time is read
  long oldest; // first bar that the terminal can give, if `begin` is before it; else 0
};
BridgeSymbol symbols[];
BridgeWant   wants[];
string       causes[]; // what was said
long         saidAt[];
string body="", identity="", newestRaw=""; // `identity`: server and login of this session
string listed="";                          // names of the catalogue that was posted
bool   isListWanted=false, isStandby=false;
int    bodyBars=0, postBars=POST_BARS, foundAt=0;
long   session=0, sequence=0, newestTick=0;
long   postAt=0, postedAt=0, sweptAt=0, checkedAt=0, historyAt=0; // milliseconds; `postAt`: no post before it
long   minute=0; // of the last reading of the newest bars
long   lostAt=0; // newest tick when the connection was lost; 0: no gap
long   backAt=1; // when the connection was back, in milliseconds; 0: it is lost
long   period[CODES], watched[CODES]; // `period`: the one that was forming at the last sweep
// Says a sentence once a minute for each cause. Returns whether it was said.
bool Say(const string cause,const string sentence) {
  int at=0;
  while(at<ArraySize(causes) && causes[at]!=cause) at++;
  if(at<ArraySize(causes) && Millis()-saidAt[at]<60000) return false;
  if(at==ArraySize(causes)) { ArrayResize(causes,at+1); ArrayResize(saidAt,at+1); }
  causes[at]=cause; saidAt[at]=Millis(); Print("fxd: "+sentence);
  return true;
}
string Field(string text) {
  StringReplace(text,"\t"," "); StringReplace(text,"\r"," "); StringReplace(text,"\n"," ");
  return StringSubstr(text,0,512);
}
// When the bar of this time opened, on the broker's clock. Weeks begin on Sunday.
long PeriodOf(const int code,const long time) {
  if(code<8) return time-time%Spans[code];
  MqlDateTime date;
  TimeToStruct((datetime)time,date);
  return time-time%DAY-(long)(code==8 ? date.day_of_week : date.day-1)*DAY;
}
void Add(const string line) { body+=line+"\n"; }
bool HasBroker() { return TerminalInfoInteger(TERMINAL_CONNECTED)!=0; }
void AddConnected() { Add(HasBroker() ? "connected\t1" : "connected\t0"); }
string SeriesOf(const int at,const int code) { return "\t"+symbols[at].raw+"\t"+Resolutions[code]; }
// Forgets what the collector said. The next post is a hello, and the collector says all of it again.
void Forget(const long waitMs) {
  session=0; sequence=0; postAt=Millis()+waitMs; body=""; bodyBars=0;
  ArrayResize(symbols,0); ArrayResize(wants,0); isListWanted=false; isStandby=false;
  newestTick=0; lostAt=0; backAt=1;
  for(int code=0; code<CODES; code++) { period[code]=0; watched[code]=0; }
}
// The place of a symbol, which is added if it is new; -1: there are too many. Answers name symbols in their order.
int Find(const string raw) {
  int size=ArraySize(symbols);
  for(int i=0; i<size; i++) { int at=(foundAt+i)%size; if(symbols[at].raw==raw) { foundAt=at; return at; } }
  if(size>=SYMBOLS_MAX) {
    Say("symbols","The collector names more than "+IntegerToString(SYMBOLS_MAX)+" symbols; the others are ignored.");
    return -1;
  }
  ArrayResize(symbols,size+1,1000);
  symbols[size].raw=raw; symbols[size].digits=(int)SymbolInfoInteger(raw,SYMBOL_DIGITS);
  symbols[size].tick=0; symbols[size].changedAt=0; symbols[size].copied=-1; symbols[size].mayTick=false;
  for(int code=0; code<CODES; code++) {
    symbols[size].newest[code]=-1; symbols[size].due[code]=false; symbols[size].late[code]=false;
    symbols[size].tries[code]=0; symbols[size].oldest[code]=0;
  }
  foundAt=size; return size;
}
void TakeWant(const int at,const int code,const long begin,const long end) {
  int size=ArraySize(wants);
  for(int i=0; i<size; i++)
    if(wants[i].at==at && wants[i].code==code && wants[i].begin==begin && wants[i].end==end) return;
  if(size>=WANTS_MAX || begin>=end) return;
  ArrayResize(wants,size+1); wants[size].at=at; wants[size].code=code;
  wants[size].begin=begin; wants[size].end=end; wants[size].from=begin; wants[size].oldest=0;
}
void TakeLine(const string &fields[],const int count) {
  string name=fields[0];
  if(name=="symbols") isListWanted=true;
  if(name=="standby") isStandby=true;
  if(count==2 && name=="say") Print("fxd: "+fields[1]);
  if(count==2 && name=="pause") postAt=Millis()+StringToInteger(fields[1]);
  if(count==2 && name=="select" && !SymbolSelect(fields[1],true))
    Say("select","The terminal does not know "+fields[1]+", which the feed lists.");
  if(!(count==4 && name=="newest") && !(count==5 && name=="want")) return;
  int code=CODES-1;
  while(code>=0 && Resolutions[code]!=fields[2]) code--;
  int at=code<0 ? -1 : Find(fields[1]);
  if(at<0) return;
  if(name=="want") TakeWant(at,code,StringToInteger(fields[3]),StringToInteger(fields[4]));
  else if(Frames[code]!=PERIOD_CURRENT) {
    symbols[at].newest[code]=StringToInteger(fields[3]); symbols[at].due[code]=true;
    if(code==0) symbols[at].copied=-1;
  }
}
// Applies the lines of an answer. False: it is not the whole answer to this post.
bool TakeAnswer(const string text) {
  string lines[];
  string fields[];
  int count=StringSplit(text,'\n',lines);
  if(count<2 || StringGetCharacter(text,StringLen(text)-1)!='\n') return false;
  if(StringSplit(lines[0],'\t',fields)!=4 || fields[0]!="fxd" || fields[1]!="1") return false;
  long number=StringToInteger(fields[2]);
  if(number<=0 || (session>0 && number!=session) || StringToInteger(fields[3])!=sequence) return false;
  session=number; sequence++;
  bool wasStandby=isStandby; isStandby=false;
  for(int i=1; i<count; i++) { int size=StringSplit(lines[i],'\t',fields); if(size>0) TakeLine(fields,size); }
  if(wasStandby && !isStandby) Forget(0);
  return true;
}
// After a refusal. True: post the same again.
bool TakeRefusal(const int status,const string text,const string headers) {
  string fields[];
  string code="",line=text; StringReplace(line,"\n","");
  if(StringSplit(line,'\t',fields)==3 && fields[0]=="error") code=fields[1];
  if(code!="") Say(code,"The collector refuses: "+fields[2]);
  else Say("other","Something else than a collector answers at "+Address+" (status "+IntegerToString(status)+").");
  bool isBusy=code=="BUSY" || code=="NOT_TAKEN" || code=="TOO_MANY" || code=="SLOW_BODY";
  long waitMs=isBusy || code=="SEQUENCE" || code=="NO_SESSION" || code=="TOO_LARGE" ? 1000 : 30000;
  int retry=StringFind(headers,"etry-");
  if(code=="TOO_MANY" && retry>=0)
    waitMs=MathMax(waitMs,MathMin((long)60000,StringToInteger(StringSubstr(headers,retry+12,6))*1000));
  if(code=="TOO_LARGE") postBars=MathMax(100,postBars/2);
  postAt=Millis()+waitMs;
  if(isBusy || status==401 || code=="") return true;
  Forget(waitMs);
  return false;
}
// Posts the body, and again until it is answered. False: the session ended.
bool Post() {
  string head="fxd\t1\t"+IntegerToString(session)+"\t"+IntegerToString(sequence)+"\n";
  string send="Authorization: Bearer "+Token+"\r\nContent-Type: text/plain; charset=utf-8\r\n";
  char data[];
  ArrayResize(data,StringToCharArray(head+body,data,0,WHOLE_ARRAY,CP_UTF8)-1); body=""; bodyBars=0;
  long begun=Millis(),waitMs=500;
  while(!IsStopped()) {
    while(Millis()<postAt && !IsStopped()) Sleep((int)MathMin(postAt-Millis(),(long)250));
    postAt=Millis()+POST_EVERY_MS;
    char result[];
    string headers="";
    ResetLastError();
    int status=WebRequest("POST",Address+"/v1/terminal",send,30000,data,result,headers);
    int number=GetLastError(); postedAt=Millis();
    string text=status>0 ? CharArrayToString(result,0,WHOLE_ARRAY,CP_UTF8) : "";
    if(status==200 && TakeAnswer(text)) return session>0;
    if((status>=300 && status<500) || (status==503 && StringFind(text,"error\t")==0)) {
      if(!TakeRefusal(status,text,headers)) return false;
    } else {
      Say(SentenceOf(number),SentenceOf(number)+" (error "+IntegerToString(number)+", status "+IntegerToString(status)+").");
      waitMs=MathMin(waitMs*2,(long)10000); postAt=Millis()+waitMs;
    }
    // A hello is made anew, since it has the time. After 30 s of silence the collector ends a session.
    if(session==0 || Millis()-begun>30000) break;
  }
  Forget(postAt-Millis());
  return false;
}
string Identity() { return AccountInfoString(ACCOUNT_SERVER)+"\t"+IntegerToString(AccountInfoInteger(ACCOUNT_LOGIN)); }
// A digest of server and login, in hexadecimal digits.
string AccountDigest() {
  uchar data[];
  uchar key[];
  uchar digest[];
  ArrayResize(data,StringToCharArray(identity,data,0,WHOLE_ARRAY,CP_UTF8)-1);
  CryptEncode(CRYPT_HASH_SHA256,data,key,digest);
  string text="";
  for(int i=0; i<ArraySize(digest) && i<16; i++)
    text+=StringSubstr("0123456789abcdef",digest[i]/16,1)+StringSubstr("0123456789abcdef",digest[i]%16,1);
  return text;
}
void PostHello() {
  identity=Identity();
  if(AccountInfoInteger(ACCOUNT_LOGIN)==0) {
    Say("login","No account is logged in; no bar comes until one is."); postAt=Millis()+1000; return;
  }
  int maxBars=TerminalInfoInteger(TERMINAL_MAXBARS);
  Add("hello\tFxdBridge\t1.0\t"+TerminalKind()+"\t"+IntegerToString(TerminalInfoInteger(TERMINAL_BUILD))
      +"\t"+Field(AccountInfoString(ACCOUNT_SERVER))+"\t"+Field(AccountInfoString(ACCOUNT_COMPANY))
      +"\t"+AccountDigest()+"\t"+IntegerToString(maxBars>50000000 ? 0 : maxBars)
      +"\t"+IntegerToString((long)TimeCurrent())+"\t"+IntegerToString((long)TimeGMT())
      +"\t"+(Role==Both ? "Both" : Role==Live ? "Live" : "History"));
  if(Post()) { postedAt=-1000; Print("fxd: the collector at "+Address+" answers; session "+IntegerToString(session)+"."); } // next it says `connected`
}
string ListedNames() {
  string names="";
  for(int i=0,count=ListedCount(); i<count; i++) names+=ListedName(i)+"\t";
  return names;
}
void PostCatalogue() {
  string names[];
  isListWanted=false; listed=ListedNames();
  int count=StringSplit(listed,'\t',names)-1;
  for(int i=0; i<count; i++) {
    Add("symbol\t"+names[i]+"\t"+IntegerToString(SymbolInfoInteger(names[i],SYMBOL_DIGITS))
        +"\t"+Field(SymbolInfoString(names[i],SYMBOL_PATH))+"\t"+Field(SymbolInfoString(names[i],SYMBOL_DESCRIPTION)));
    if(StringLen(body)>POST_CHARS && !Post()) return;
  }
  Add("catalogue\t"+IntegerToString(count)); Post();
}
// Adds the bars from `from` to `to` in ascending groups; posts whenever a post is full. Bars from `openFrom` on may be forming.
bool AddBars(const int at,const int code,const MqlRates &rates[],const long from,const long to,const long openFrom) {
  int count=ArraySize(rates),digits=symbols[at].digits,i=0;
  while(i<count) {
    if((long)rates[i].time<from || (long)rates[i].time>=to) { i++; continue; }
    if((bodyBars>=postBars || StringLen(body)>POST_CHARS) && !Post()) return false;
    string group=""; int size=0;
    long last=from-1; bool isOpen=false;
    while(i<count && !isOpen && bodyBars+size<postBars && (long)rates[i].time>last && (long)rates[i].time<to) {
      last=(long)rates[i].time; isOpen=last>=openFrom;
      group+=IntegerToString(last)+"\t"+DoubleToString(rates[i].open,digits)+"\t"+DoubleToString(rates[i].high,digits)
             +"\t"+DoubleToString(rates[i].low,digits)+"\t"+DoubleToString(rates[i].close,digits)
             +"\t"+IntegerToString(rates[i].tick_volume)+(isOpen ? "\topen\n" : "\n");
      size++; i++;
    }
    body+="bars"+SeriesOf(at,code)+"\t"+IntegerToString(size)+"\n"+group; bodyBars+=size;
  }
  return true;
}
// A series has no bars to read now; `number` is the error, or 0.
void AddUnread(const int at,const int number) {
  string cause=IntegerToString(number);
  if(number!=0 && Say("copy"+cause,"No bars of "+symbols[at].raw+" yet (error "+cause+" of CopyRates); trying again."))
    Add("error\t"+cause+"\tCopyRates\t"+symbols[at].raw);
}
// Adds the newest bars of a series, from the newest that the collector has less `back` seconds.
bool CopyNewest(const int at,const int code,const long back) {
  MqlRates rates[];
  string raw=symbols[at].raw;
  long from=symbols[at].newest[code],last=0; int count=0; ResetLastError();
  if(from>0) count=CopyRates(raw,Frames[code],(datetime)(from-back),(datetime)(MathMax(newestTick,from)+DAY),rates);
  // Nothing from there on: the broker set its clock back, or the collector has no bar yet.
  bool isUnread=count<=0;
  if(isUnread) count=CopyRates(raw,Frames[code],0,1,rates);
  for(int i=0; i<ArraySize(rates); i++) last=MathMax(last,(long)rates[i].time);
  isUnread=isUnread ? last>from : last-from>2*Spans[code] && !IsLoaded(raw,Frames[code]);
  if(count<=0 || (from>0 && isUnread)) {
    if(!symbols[at].late[code]) Add("late"+SeriesOf(at,code));
    AddUnread(at,GetLastError());
    symbols[at].late[code]=true;
    return true;
  }
  symbols[at].late[code]=false; symbols[at].due[code]=false; symbols[at].newest[code]=last;
  if(code==0) { symbols[at].copied=symbols[at].tick; symbols[at].mayTick=symbols[at].tick>=newestTick; }
  return AddBars(at,code,rates,from>0 ? MathMin(from-back,last) : last,last+1,last);
}
// The newest tick is that of the symbols that ticked in the last 2 s: so it falls when the broker sets its clock back.
void ReadTicks() {
  long now=Millis(),best=0;
  for(int at=0; at<ArraySize(symbols); at++) {
    long tick=SymbolInfoInteger(symbols[at].raw,SYMBOL_TIME);
    if(tick!=symbols[at].tick) symbols[at].changedAt=now;
    symbols[at].tick=tick;
    if(now-symbols[at].changedAt>2000 || tick<=best) continue;
    best=tick; newestRaw=symbols[at].raw;
  }
  if(best>0) newestTick=best;
  if(HasBroker()) { if(backAt==0) backAt=now; return; }
  Say("broker","The terminal is not connected to its broker; no bar comes until it is.");
  if(lostAt==0) lostAt=newestTick;
  backAt=0;
}
// Copies M1 of the symbols that ticked, and longer series whose period ended, which without ticks shows 10 s later.
bool SweepSeries(const int code,const bool isFast,const bool isAgain) {
  long start=newestTick>0 ? PeriodOf(code,newestTick) : 0;
  long ended=start>0 && backAt>0 ? MathMax(start,PeriodOf(code,ServerTime()-10)) : start;
  bool isEnded=ended!=period[code],isSwept=false;
  bool isBack=isAgain && lostAt>0 && backAt>0 && Millis()-backAt>60000;
  long back=code>0 ? Spans[code] : isAgain ? 300 : 0; // bars that may have changed, as while their series was not read
  if(isBack) { back+=MathMax(newestTick-lostAt,(long)0); lostAt=0; }
  period[code]=ended;
  for(int at=0; at<ArraySize(symbols); at++) {
    if(symbols[at].newest[code]<0) continue;
    isSwept=true; if(isEnded) symbols[at].due[code]=true;
    if(isFast && symbols[at].late[code]) continue;
    long tick=symbols[at].tick,copied=symbols[at].copied;
    bool isLate=symbols[at].late[code],isTicked=tick!=copied || (symbols[at].mayTick && (newestTick>copied || !isFast));
    bool isRead=code>0 ? symbols[at].due[code] : isTicked || (isAgain && newestTick-tick<3600);
    if((isRead || isLate) && !CopyNewest(at,code,code==0 && (copied<0 || isLate) ? MathMax(back,(long)300) : back)) return false;
  }
  if(isSwept && start>watched[code]) { Add("watched\t"+Resolutions[code]+"\t"+IntegerToString(start)); watched[code]=start; }
  return true;
}
// M1 of all symbols is posted first, then the longer resolutions.
void Sweep(const bool isFast,const bool isAgain) {
  ReadTicks();
  if(!isStandby && !SweepSeries(0,isFast,isAgain)) return;
  if(body!="" || Millis()-postedAt>=1000) {
    if(newestTick>0) Add("tick\t"+IntegerToString(newestTick)+"\t"+newestRaw);
    AddConnected();
    if(!Post()) return;
  }
  for(int code=1; code<CODES && !isStandby; code++) if(!SweepSeries(code,isFast,false)) return;
  if(body!="") Post();
}
void EndWant(const string line) {
  Add(line);
  int left=ArraySize(wants)-1;
  for(int i=0; i<left; i++) wants[i]=wants[i+1];
  ArrayResize(wants,left);
}
// Reads the next bars of the first want. False: the session ended.
bool ReadWant() {
  MqlRates rates[];
  int at=wants[0].at,code=wants[0].code;
  long from=wants[0].from,end=wants[0].end,to=MathMin(from+POST_BARS*Spans[code],end);
  string raw=symbols[at].raw,series=SeriesOf(at,code);
  if(Frames[code]==PERIOD_CURRENT) { EndWant("beyond"+series+"\t"+IntegerToString(end)); return true; }
  ResetLastError();
  int count=CopyRates(raw,Frames[code],(datetime)from,(datetime)(to-1),rates);
  int number=GetLastError(),tries=symbols[at].tries[code];
  long oldest=SeriesInfoInteger(raw,Frames[code],SERIES_FIRSTDATE);
  bool isUnread=count<=0 && tries<3 && CopyRates(raw,Frames[code],(datetime)(from-POST_BARS*Spans[code]),(datetime)(to-1),rates)<=0;
  bool isLoading=isUnread || (IsLoadingError(number) && (count<=0 || tries<3)) || !IsLoaded(raw,Frames[code]);
  // Older bars may still come, unless neither terminal nor server has any.
  if(!isLoading && oldest>from && (tries<10 || oldest!=symbols[at].oldest[code]))
    isLoading=oldest>SeriesInfoInteger(raw,Frames[code],SERIES_SERVER_FIRSTDATE)
              && SeriesInfoInteger(raw,Frames[code],SERIES_BARS_COUNT)<TerminalInfoInteger(TERMINAL_MAXBARS);
  if(isLoading) {
    symbols[at].tries[code]=oldest==symbols[at].oldest[code] ? tries+1 : 1;
    symbols[at].oldest[code]=oldest; AddUnread(at,count<=0 ? number : 0);
    EndWant("loading"+series);
    return true;
  }
  symbols[at].tries[code]=MathMax(tries,1);
  if(oldest>from) wants[0].oldest=oldest;
  if(!AddBars(at,code,rates,from,to,PeriodOf(code,(long)TimeCurrent()))) return false;
  wants[0].from=MathMax(to,MathMin(oldest,end));
  if(wants[0].from<end) return true;
  long begin=MathMax(wants[0].begin,wants[0].oldest);
  string complete=begin<end ? "complete"+series+"\t"+IntegerToString(begin)+"\t"+IntegerToString(end) : "";
  string beyond=wants[0].oldest>0 ? "beyond"+series+"\t"+IntegerToString(wants[0].oldest) : "";
  EndWant(complete+(complete!="" && beyond!="" ? "\n" : "")+beyond);
  return true;
}
void ReadHistory() {
  int used=TerminalInfoInteger(TERMINAL_MEMORY_USED);
  if(used>MemoryMb) {
    Say("memory","The terminal uses "+IntegerToString(used)+" MB, more than MemoryMb; reading history pauses.");
    historyAt=Millis()+5000; return;
  }
  long until=Millis()+(Role==History ? 1000 : 200);
  while(ArraySize(wants)>0 && bodyBars<postBars && Millis()<until) if(!ReadWant()) return;
  if(body!="") Post();
}
// False: an input is wrong.
bool Begin() {
  bool isUrl=StringFind(Address,"http://")==0 || StringFind(Address,"https://")==0;
  if(!isUrl || StringGetCharacter(Address,StringLen(Address)-1)=='/')
    Print("fxd: Address is \""+Address+"\"; wanted such as https://bars.example.org, without a slash at its end.");
  else if(StringFind(Token,"fxt_")!=0)
    Print("fxd: Token does not begin with fxt_; `fxd terminal token FEED` makes one.");
  else { Forget(0); return true; }
  return false;
}
// Does what is due, and returns.
void Step() {
  long now=Millis();
  if(session==0) { if(now>=postAt) PostHello(); return; }
  if(now-checkedAt>=1000) {
    checkedAt=now;
    if(Identity()!=identity) { Print("fxd: another account is logged in."); Forget(0); return; }
  }
  long server=ServerTime();
  bool isFast=(server+2)%60<5,isAgain=!isFast && server/60!=minute;
  if(isAgain) {
    minute=server/60;
    Add("memory\t"+IntegerToString(TerminalInfoInteger(TERMINAL_MEMORY_USED))
        +"\t"+IntegerToString(TerminalInfoInteger(TERMINAL_MEMORY_PHYSICAL)));
    if(listed!="" && ListedNames()!=listed) isListWanted=true;
  }
  if(Role!=History && (isAgain || now-sweptAt>=(isFast ? 50 : 1000))) { sweptAt=now; Sweep(isFast,isAgain); }
  else if(now-postedAt>=1000) { AddConnected(); Post(); }
  else if(isListWanted) PostCatalogue();
  else if(Role!=Live && ArraySize(wants)>0 && now>=historyAt) ReadHistory();
}

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
