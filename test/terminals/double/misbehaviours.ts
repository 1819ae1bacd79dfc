import { calls, Faults } from './faults.ts'
import { dayOf, minute, textOf } from './market.ts'
import type { TerminalDouble } from './terminal-double.ts'

export type Misbehaviour = (faults: Faults) => void

const raw = 'EURUSD.z'
const other = 'GBPUSD.z'
const isCopy = (name: string): boolean => name === 'CopyRates' || name === 'CopyLast'

/** Each one ends, and leaves a terminal whose bars can all be had. */
export const passing = {
  /** The first copies of a series return nothing and begin its download. */
  firstCopiesReturnNothing: (faults) => faults.next(3, isCopy, () => ({ result: -1, error: 4401 })),
  /** Copies return the error of a series that did not come in time. */
  seriesIsLate: (faults) => faults.next(5, isCopy, () => ({ result: -1, error: 4403 })),
  /** Copies fail over the end of a minute; then copies of the last bar succeed a few seconds before those of a range. */
  onlyLastBarIsCopied: (faults) => {
    faults.terminal.after(118, () => {
      faults.during(4, calls('CopyLast'), () => ({ result: -1, error: 4403 }))
      faults.during(7, calls('CopyRates'), () => ({ result: -1, error: 4403 }))
    })
  },
  /** The series says for a while that it is not whole. */
  seriesIsNotWhole: (faults) =>
    faults.next(20, calls('SeriesInfoInteger', 2, 'SYNCHRONIZED'), () => ({ result: 0 })),
  /** A copy holds the program for 30 s. */
  copyBlocks: (faults) => faults.blocks('CopyRates', 30),
  /** Each of 20 posts needs two seconds on its way. */
  lineIsSlow: (faults) => faults.next(20, calls('WebRequest'), () => faults.terminal.post(0, 2000)),
  /** The terminal stands still for 7 s. */
  stallsForSeconds: (faults) => faults.blocks('Sleep', 7),
  /** The terminal stands still for three hours, while the market goes on. */
  stallsForHours: (faults) => faults.blocks('Sleep', 3 * 3600),
  /** The broker is away for four minutes; then all bars come at once. */
  connectionIsLost: (faults) => {
    const { terminal } = faults
    terminal.lostFrom = terminal.now
    terminal.after(240, () => (terminal.lostFrom = Number.POSITIVE_INFINITY))
    faults.counts((...call) => calls('TerminalInfoInteger', 0, 'CONNECTED')(...call) && !terminal.isConnected)
  },
  /** The estimated server clock is 90 s behind for three minutes. */
  serverClockGoesBack: (faults) =>
    faults.during(180, calls('TimeTradeServer'), () => ({ result: faults.terminal.now - 90 })),
  /** The estimated server clock is 90 s ahead for three minutes. */
  serverClockGoesForward: (faults) =>
    faults.during(180, calls('TimeTradeServer'), () => ({ result: faults.terminal.now + 90 })),
  /** Ticks of ten seconds are as old as an hour. */
  oldTicksCome: (faults) => {
    const { terminal } = faults
    faults.during(10, calls('SymbolTimes'), () => ({
      result: terminal.symbols.length,
      lines: terminal.symbols.map((each) => [each, terminal.now - 3600]),
    }))
  },
  /** The bar of the minute before changes a minute later. */
  closedBarChanges: (faults) => {
    const { terminal } = faults
    const time = terminal.now - (terminal.now % minute) - minute
    terminal.after(60, () => {
      terminal.change(raw, time, 9)
      const bar = textOf(terminal.bars(raw, time, time + 1)[0] ?? { time, fields: [] })
      faults.countsCopies(raw, (copied) => copied === bar)
    })
  },
  /** Copies have each bar twice. */
  barsComeTwice: (faults) => faults.alters(5, (lines) => lines.flatMap((line) => [line, line])),
  /** Copies have the newest bar first. */
  barsDescend: (faults) => faults.alters(5, (lines) => lines.toReversed()),
  /** The answers of three posts are lost. */
  answersAreLost: (faults) => faults.next(3, calls('WebRequest'), () => faults.terminal.post(1)),
  /** Three posts break off in the middle. */
  postsBreakOff: (faults) => faults.next(3, calls('WebRequest'), () => faults.terminal.post(2)),
  /** Requests fail with the error of a timeout. */
  requestsFail: (faults) => faults.next(3, calls('WebRequest'), () => ({ result: 0, error: 5202 })),
  /** The terminal is killed after an answer has come and before the program has it. */
  restartsInAnswer: (faults) =>
    faults.next(1, calls('WebAnswered'), async () => {
      await faults.terminal.restart()
      return { result: 0 }
    }),
  /** The terminal is killed in the middle of a copy. */
  restartsInCopy: (faults) =>
    faults.next(1, calls('CopyRates'), async () => {
      await faults.terminal.restart()
      return { result: 0 }
    }),
  /** For a minute another account is logged in, after the first one was pinned. */
  accountIsSwitched: (faults) => {
    const { terminal } = faults
    terminal.after(60, () => {
      if (terminal.printed.some((said) => said.includes('answers; session'))) terminal.login = 815
    })
    terminal.after(120, () => (terminal.login = 4711))
    faults.countsSaid('This feed takes bars of Zero Ltd')
  },
  /** For a minute no account is logged in. */
  accountIsLoggedOut: (faults) => {
    const { terminal } = faults
    terminal.login = 0
    terminal.after(60, () => (terminal.login = 4711))
    faults.countsSaid('No account is logged in')
  },
  /** The memory is above the bound of history for two minutes. */
  memoryIsFull: (faults) => {
    const { terminal } = faults
    terminal.memory = 9000
    terminal.after(120, () => (terminal.memory = 300))
    faults.counts(calls('TerminalInfoInteger', 0, 'MEMORY_USED'))
  },
  /** Each copy takes 3 GB for a minute and a half; only a restart gives memory back. */
  memoryGrows: (faults) => {
    const { terminal } = faults
    const until = terminal.now + 90
    faults.counts((name) => {
      if (name === 'CopyRates' && terminal.now < until) terminal.memory += 3000
      return terminal.memory > 4096
    })
    terminal.after(90, () => void terminal.restart())
  },
} satisfies Record<string, Misbehaviour>

/** Each one leaves a terminal without some bars. */
export const lasting = {
  /** The series of a second symbol never becomes whole. */
  seriesNeverSynchronizes: (faults) => {
    const { terminal } = faults
    terminal.symbols = [raw, other]
    terminal.unloadable.add(other)
    faults.counts((name, args) => isCopy(name) && args[0] === other)
  },
  /** A second symbol appears after three minutes. */
  symbolAppearsLate: (faults) => {
    const { terminal } = faults
    terminal.after(180, () => {
      terminal.symbols = [raw, other]
      terminal.since.set(other, terminal.now)
    })
    faults.counts((name, args) => isCopy(name) && args[0] === other)
  },
  /** A second symbol vanishes within the fourth minute. */
  symbolVanishes: (faults) => {
    const { terminal } = faults
    terminal.symbols = [raw, other]
    terminal.after(210, () => {
      terminal.symbols = [raw]
      terminal.until.set(other, terminal.now)
      faults.counts(calls('SymbolsTotal'))
    })
  },
  /** A second symbol gets another name within the fourth minute; the series of the new name begins then. */
  symbolIsRenamed: (faults) => {
    const { terminal } = faults
    terminal.symbols = [raw, other]
    terminal.after(210, () => {
      terminal.symbols = [raw, 'GBPUSD2.z']
      terminal.until.set(other, terminal.now)
      terminal.since.set('GBPUSD2.z', terminal.now)
      faults.counts((name, args) => isCopy(name) && args[0] === 'GBPUSD2.z')
    })
  },
  /** "Max bars in chart" is 100. */
  maxBarsIsSmall: (faults) => {
    faults.terminal.maxBars = 100
    faults.counts(calls('SeriesInfoInteger', 2, 'FIRSTDATE'))
  },
  /** The prices of all earlier days are halved after five minutes. */
  historyIsReadjusted: (faults) => {
    const { terminal } = faults
    terminal.after(300, () => {
      terminal.halvedBefore = dayOf(terminal.now)
      faults.counts(calls('CopyRates', 0, raw))
    })
  },
} satisfies Record<string, Misbehaviour>

/** Begins a misbehaviour. Returns how often the program has met it. */
export function misbehave(terminal: TerminalDouble, misbehaviour: Misbehaviour): () => number {
  let count = 0
  misbehaviour(new Faults(terminal, () => (count += 1)))
  return () => count
}
