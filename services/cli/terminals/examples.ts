/** The examples of docs/terminal-protocol.md: one post each, without its first line. */
export const examples: readonly string[] = [
  'hello\tFxdBridge\t1.0\tMT5\t4410\tExample-Demo\tExample Ltd\t0123456789abcdef\t100000\t1767614400\t1767607205\tBoth\n',
  'symbol\tEURUSD\t5\tForex\\Majors\\EURUSD\tEuro vs US Dollar\n',
  'catalogue\t1\n',
  'bars\tEURUSD\t1\t2\n1767614340\t1.16999\t1.17001\t1.16984\t1.16987\t71\n1767614400\t1.16987\t1.16990\t1.16979\t1.16982\t66\topen\n',
  'complete\tEURUSD\t1\t1767528000\t1767614400\n',
  'loading\tEURUSD\t60\n',
  'late\tEURUSD\t60\n',
  'beyond\tEURUSD\t1\t1764590400\n',
  'tick\t1767614401\tEURUSD\n',
  'connected\t1\n',
  'watched\t1\t1767614400\n',
  'memory\t412\t16384\n',
  'error\t4401\tCopyRates\tEURUSD\n',
]
