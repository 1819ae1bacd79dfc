import type { Reply } from '../program.ts'
import { minute } from './market.ts'
import type { TerminalDouble } from './terminal-double.ts'

export type Misbehaviour = (terminal: TerminalDouble) => void

const raw = 'EURUSD.z'
const isCopy = (name: string): boolean => name === 'CopyRates' || name === 'CopyLast'

/** The next `count` calls for which `matches` holds are answered by `reply`. */
function next(
  terminal: TerminalDouble,
  count: number,
  matches: (name: string, args: readonly string[]) => boolean,
  reply: (name: string, args: readonly string[]) => Reply | Promise<Reply>,
): void {
  let left = count
  terminal.faults.push((name, args) =>
    left > 0 && matches(name, args) && left-- > 0 ? reply(name, args) : undefined,
  )
}

/** Waits this long before the next answer to this call. */
function blocks(terminal: TerminalDouble, call: string, seconds: number): void {
  next(
    terminal,
    1,
    (name) => name === call,
    async (name, args) => {
      await terminal.wait(seconds * 1000)
      return terminal.reply(name, args)
    },
  )
}

/** Changes the bars of the next copies. */
function alters(
  terminal: TerminalDouble,
  count: number,
  alter: (lines: NonNullable<Reply['lines']>) => NonNullable<Reply['lines']>,
): void {
  next(
    terminal,
    count,
    (name) => name === 'CopyRates',
    async (name, args) => {
      const reply = await terminal.reply(name, args)
      if (!reply.lines) return reply
      const lines = alter(reply.lines)
      return { ...reply, result: lines.length, lines }
    },
  )
}

/** Each one leaves a terminal whose bars can all be had in the end. */
export const passing = {
  /** The first copies of a series return nothing and begin its download. */
  firstCopiesReturnNothing: (terminal) => next(terminal, 3, isCopy, () => ({ result: -1, error: 4401 })),
  /** Copies return the error of a series that did not come in time. */
  seriesIsLate: (terminal) => next(terminal, 5, isCopy, () => ({ result: -1, error: 4403 })),
  /** The series says for a while that it is not whole. */
  seriesIsNotWhole: (terminal) =>
    next(
      terminal,
      20,
      (name, args) => name === 'SeriesInfoInteger' && args[2] === 'SYNCHRONIZED',
      () => ({ result: 0 }),
    ),
  /** A copy holds the program for 30 s. */
  copyBlocks: (terminal) => blocks(terminal, 'CopyRates', 30),
  /** Each of 20 posts needs two seconds on its way. */
  lineIsSlow: (terminal) =>
    next(
      terminal,
      20,
      (name) => name === 'WebRequest',
      () => terminal.post(0, 2000),
    ),
  /** The terminal stands still for 7 s. */
  stallsForSeconds: (terminal) => blocks(terminal, 'Sleep', 7),
  /** The broker is away for ten minutes; then all bars come at once. */
  connectionIsLost: (terminal) => {
    terminal.lostFrom = terminal.now
    terminal.after(600, () => (terminal.lostFrom = Number.POSITIVE_INFINITY))
  },
  /** The estimated server clock is 90 s behind for three minutes. */
  serverClockGoesBack: (terminal) => {
    terminal.serverAhead = -90
    terminal.after(180, () => (terminal.serverAhead = 0))
  },
  /** The estimated server clock is 90 s ahead for three minutes. */
  serverClockGoesForward: (terminal) => {
    terminal.serverAhead = 90
    terminal.after(180, () => (terminal.serverAhead = 0))
  },
  /** Ticks of ten seconds are as old as an hour. */
  oldTicksCome: (terminal) => {
    const until = terminal.now + 10
    terminal.faults.push((name) =>
      name === 'SymbolTimes' && terminal.now < until
        ? { result: 1, lines: terminal.symbols.map((each) => [each, terminal.now - 3600]) }
        : undefined,
    )
  },
  /** The bar of the minute before changes two minutes after its close. */
  closedBarChanges: (terminal) => {
    const time = terminal.now - (terminal.now % minute) - minute
    terminal.after(60, () => terminal.change(raw, time, 9))
  },
  /** Copies have each bar twice. */
  barsComeTwice: (terminal) => alters(terminal, 5, (lines) => lines.flatMap((line) => [line, line])),
  /** Copies have the newest bar first. */
  barsDescend: (terminal) => alters(terminal, 5, (lines) => lines.toReversed()),
  /** The answers of three posts are lost. */
  answersAreLost: (terminal) =>
    next(
      terminal,
      3,
      (name) => name === 'WebRequest',
      () => terminal.post(1),
    ),
  /** Three posts break off in the middle. */
  postsBreakOff: (terminal) =>
    next(
      terminal,
      3,
      (name) => name === 'WebRequest',
      () => terminal.post(2),
    ),
  /** Requests fail with the error of a timeout. */
  requestsFail: (terminal) =>
    next(
      terminal,
      3,
      (name) => name === 'WebRequest',
      () => ({ result: 0, error: 5202 }),
    ),
  /** The terminal is killed in the middle of a post, and starts again. */
  restartsInPost: (terminal) =>
    next(
      terminal,
      1,
      (name) => name === 'WebRequest',
      () => {
        void terminal.restart()
        return terminal.post(2)
      },
    ),
  /** For a minute another account is logged in, after the first one was pinned. */
  accountIsSwitched: (terminal) => {
    terminal.after(60, () => (terminal.login = 815))
    terminal.after(120, () => (terminal.login = 4711))
  },
  /** For a minute no account is logged in. */
  accountIsLoggedOut: (terminal) => {
    terminal.login = 0
    terminal.after(60, () => (terminal.login = 4711))
  },
  /** The memory grows above the bound of history for two minutes. */
  memoryGrows: (terminal) => {
    terminal.memory = 9000
    terminal.after(120, () => (terminal.memory = 300))
  },
} satisfies Record<string, Misbehaviour>
