const words = (text: string): string[] => text.trim().split(/\s+/)

const ofBoth = [
  // Keywords and types.
  ...words(
    'bool break char const continue datetime double else enum false for if input int long return string struct true',
  ),
  ...words('uchar void while MqlDateTime MqlRates ENUM_TIMEFRAMES'),
  // Members of MqlRates and MqlDateTime.
  ...words('time open high low close tick_volume day day_of_week'),
  // Functions.
  ...words(
    'AccountInfoInteger AccountInfoString ArrayResize ArraySize CharArrayToString CopyRates CryptEncode',
  ),
  ...words('DoubleToString GetLastError GetMicrosecondCount IntegerToString IsStopped MathMax MathMin Print'),
  ...words('ResetLastError SeriesInfoInteger Sleep StringFind StringGetCharacter StringLen StringReplace'),
  ...words('StringSplit StringSubstr StringToCharArray StringToInteger SymbolInfoInteger SymbolInfoString'),
  ...words('SymbolName SymbolSelect SymbolsTotal TerminalInfoInteger TimeCurrent TimeGMT TimeToStruct'),
  ...words('WebRequest'),
  // Constants.
  ...words('ACCOUNT_COMPANY ACCOUNT_LOGIN ACCOUNT_SERVER CP_UTF8 CRYPT_HASH_SHA256 PERIOD_CURRENT PERIOD_D1'),
  ...words('PERIOD_H1 PERIOD_H4 PERIOD_M1 PERIOD_M15 PERIOD_M5 PERIOD_MN1 PERIOD_W1 SERIES_BARS_COUNT'),
  ...words(
    'SERIES_FIRSTDATE SERIES_SERVER_FIRSTDATE SYMBOL_DESCRIPTION SYMBOL_DIGITS SYMBOL_PATH SYMBOL_TIME',
  ),
  ...words(
    'TERMINAL_BUILD TERMINAL_CONNECTED TERMINAL_MAXBARS TERMINAL_MEMORY_PHYSICAL TERMINAL_MEMORY_USED',
  ),
  ...words('WHOLE_ARRAY'),
]

/**
 * The words of MQL that the program of each terminal may use. They were written down from general knowledge of MQL4 and
 * MQL5, and not yet compared with the references. Compare a word with both before it is added.
 */
export const subset = {
  mt5: new Set([...ofBoth, ...words('OnStart PERIOD_H2 PERIOD_M10 SERIES_SYNCHRONIZED TimeTradeServer')]),
  mt4: new Set([
    ...ofBoth,
    ...words('OnInit OnTimer OnDeinit INIT_SUCCEEDED INIT_PARAMETERS_INCORRECT'),
    ...words('EventSetMillisecondTimer EventKillTimer'),
  ]),
}
