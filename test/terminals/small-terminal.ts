import type { TerminalKind } from '../../terminals/programs.ts'
import { type Reply, TerminalProgram } from './program.ts'

const minute = 60
const spans = new Map([
  ['M1', minute],
  ['M5', 5 * minute],
])

/** Price of the bar that opens at this time. It ends in a zero, which a float would lose. */
export const priceAt = (time: number): string => `1.0${100 + ((time / minute) % 800)}0`

const barAt = (time: number) => [time, priceAt(time), priceAt(time), priceAt(time), priceAt(time), 7, 1, 0]

/**
 * A terminal with the symbol EURUSD, whose every minute has a bar, on a clock that moves when the program waits. It also
 * has bars of GBPUSD, which has had no tick for a while.
 */
export class SmallTerminal {
  /** Broker's clock at the start, 10 s after a full minute, and its first bar. */
  static readonly start = 1_764_000_010
  static readonly firstBar = SmallTerminal.start - 10 - 100 * minute

  readonly printed: string[] = []
  /** Broker's times between which no series can be read. */
  unreadable = { from: 0, to: 0 }
  readonly program: TerminalProgram
  /** Error of the next requests, by their position; 0 or absent: none. `lose` loses the answer. */
  readonly #faults: (number | 'lose')[]
  readonly #inputs: Readonly<Record<string, string>>
  /** Time of the last tick; infinite while the market is open. */
  readonly #lastTick: number
  #micros = 0
  #isStopped = false

  constructor(
    kind: TerminalKind,
    inputs: Readonly<Record<string, string>>,
    faults: (number | 'lose')[] = [],
    lastTick = Number.POSITIVE_INFINITY,
  ) {
    this.#lastTick = lastTick
    this.#inputs = inputs
    this.#faults = faults
    this.program = new TerminalProgram(kind, (name, args) => this.#answer(name, args))
  }

  /** Ends the program. Returns what its sanitizers printed. */
  async stop(): Promise<string> {
    this.#isStopped = true
    await this.program.ended
    return this.program.errors
  }

  /** The broker's clock now. */
  get time(): number {
    return this.#now
  }

  get #now(): number {
    return SmallTerminal.start + Math.floor(this.#micros / 1_000_000)
  }

  get #tick(): number {
    return Math.min(this.#now, this.#lastTick)
  }

  #bars(frame: string, from: number, to: number): Reply {
    const seconds = spans.get(frame)
    const { from: lostAt, to: backAt } = this.unreadable
    if (seconds === undefined || (this.#now >= lostAt && this.#now < backAt))
      return { result: -1, error: 4401 }
    const first = Math.max(SmallTerminal.firstBar, Math.ceil(from / seconds) * seconds)
    const lines = []
    for (let time = first; time <= Math.min(to, this.#tick); time += seconds) lines.push(barAt(time))
    return { result: lines.length, lines }
  }

  #lastBar(frame: string): Reply {
    const seconds = spans.get(frame) ?? minute
    return this.#bars(frame, this.#tick - (this.#tick % seconds), this.#tick)
  }

  #answer(name: string, args: readonly string[]): Reply {
    const known: Readonly<Record<string, () => Reply>> = {
      Input: () => ({ result: this.#inputs[args[0] ?? ''] ?? '' }),
      SymbolsTotal: () => ({ result: 1 }),
      SymbolName: () => ({ result: 'EURUSD' }),
      SymbolSelect: () => ({ result: args[0] === 'EURUSD' ? 1 : 0 }),
      SymbolInfoInteger: () => ({ result: 5 }),
      SymbolInfoString: () => ({ result: args[1] === 'PATH' ? 'Forex\\EURUSD' : 'Euro\tDollar' }),
      SymbolTimes: () => ({
        result: 2,
        lines: [
          ['EURUSD', this.#tick],
          ['GBPUSD', SmallTerminal.start - 100],
        ],
      }),
      SeriesInfoInteger: () => ({ result: args[2] === 'SYNCHRONIZED' ? 1 : this.#seriesNumber(args[2]) }),
      CopyRates: () => this.#bars(args[1] ?? '', Number(args[2]), Number(args[3])),
      CopyLast: () => this.#lastBar(args[1] ?? ''),
      TerminalInfoInteger: () => ({
        result: { CONNECTED: 1, BUILD: 5000, MAXBARS: 100_000, MEMORY_USED: 300 }[args[0] ?? ''] ?? 16_000,
      }),
      AccountInfoInteger: () => ({ result: 4711 }),
      AccountInfoString: () => ({ result: args[0] === 'SERVER' ? 'Zero-Live' : 'Zero Ltd' }),
      TimeCurrent: () => ({ result: this.#tick }),
      TimeTradeServer: () => ({ result: this.#now }),
      TimeGMT: () => ({ result: this.#now - 7200 }),
      GetMicrosecondCount: () => ({ result: this.#micros }),
      IsStopped: () => ({ result: this.#isStopped ? 1 : 0 }),
      Sleep: () => this.#wait(Number(args[0])),
      Timer: () => this.#wait(Number(args[0])),
      WebRequest: () => this.#request(),
      WebAnswered: () => ({ result: 0 }),
      Print: () => ({ result: this.printed.push(args[0] ?? '') }),
    }
    const reply = known[name]
    if (!reply) throw new Error(`the program called ${name}, which the terminal of this test lacks`)
    return reply()
  }

  #seriesNumber(property: string | undefined): number {
    return property === 'BARS_COUNT' ? 101 : SmallTerminal.firstBar
  }

  #wait(ms: number): Reply {
    this.#micros += ms * 1000
    return { result: 0 }
  }

  #request(): Reply {
    this.#micros += 5000
    const fault = this.#faults.shift() ?? 0
    return fault === 'lose' ? { result: 1 } : { result: 0, error: fault }
  }
}
