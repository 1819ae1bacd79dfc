/**
 * Measures live bars and history from a terminal: `bin/node test/bench/terminal.ts [minutes = 5 [minutes beside history = 5]]`.
 * The program of MetaTrader 5, compiled as C++, sweeps and posts in real time to an `fxd all`. Its terminal
 * (terminal/market.hpp) has 1,622 symbols that tick every second. A time counts from the first tick of the new minute.
 */
import { loadavg } from 'node:os'
import type { Arrival } from './minute/socket-reader.ts'
import { count, machine, ms, printTable, quantile } from './support/figures.ts'
import { delayedHistory, embeddedHistory, questdbHistory } from './terminal/history-rates.ts'
import { liveMinutes } from './terminal/live-minutes.ts'

const [alone = 5, besideHistory = 5] = process.argv.slice(2).map(Number)
const facts = machine()
const historySymbols = 70
const delayedSymbols = 20

const rate = (bars: number): string => `${count(bars)} bars/s`
const of = (all: readonly Arrival[], field: keyof Arrival, q: number): number =>
  quantile(
    all.map((each) => each[field]),
    q,
  )

const rows: string[][] = []
const embedded = await embeddedHistory(historySymbols)
rows.push(['history, embedded store', rate(embedded), '≥ 100,000 bars/s'])
const delayed = await delayedHistory(delayedSymbols)
rows.push(['history, line of 50 ms', rate(delayed), '≥ 20,000 bars/s'])
const questdb = await questdbHistory(historySymbols)
rows.push(
  ['history, QuestDB', rate(questdb.history), ''],
  ['fxd import, QuestDB', rate(questdb.imported), ''],
  [
    'history, QuestDB, of fxd import',
    `${Math.round((100 * questdb.history) / questdb.imported)} %`,
    '≥ 90 %',
  ],
)
if (alone > 0) {
  const live = await liveMinutes(alone, besideHistory)
  const ratio = of(live.besideHistory, 'p99', 0.5) / of(live.alone, 'p99', 0.5)
  rows.push(
    ['frames p50, median of the minutes', ms(of(live.alone, 'p50', 0.5)), ''],
    ['frames p99, worst minute', ms(of(live.alone, 'p99', 1)), '≤ 200 ms'],
    ['last frame, worst minute', ms(of(live.alone, 'max', 1)), ''],
    ['beside history: frames p50, median', ms(of(live.besideHistory, 'p50', 0.5)), ''],
    ['beside history: frames p99, worst minute', ms(of(live.besideHistory, 'p99', 1)), ''],
    ['beside history: times alone, median p99', ratio.toFixed(2), '≤ 1.5'],
    ['beside history: history', rate(live.historyRate), ''],
    ['posts refused', live.refused || 'none', 'none'],
  )
}
console.log(
  `${facts}; at the end ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`,
)
printTable(['terminal', 'measured', 'goal'], rows)
