import type { VirtualClock } from '../../support/fixtures/virtual-clock.ts'
import { type Reply, TerminalProgram } from '../program.ts'
import { barAt, type DoubleBar, dayOf, minute } from './market.ts'

/** Answers a call before the terminal does; `undefined`: the terminal answers. */
export type Fault = (name: string, args: readonly string[]) => Reply | Promise<Reply> | undefined

/** A clock of the test that the waits move, or the real time. */
type DoubleClock = Pick<VirtualClock, 'utcMs' | 'monotonicMs'> & { advance(ms: number): Promise<unknown> }

interface DoubleOptions {
  readonly clock: DoubleClock
  readonly address: string
  readonly token: string
  readonly role: '0' | '1' | '2'
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Two programs wait at the same time, but only one of them moves the clock at once. */
const moving = new WeakMap<DoubleClock, Promise<void>>()

/** A terminal for MetaTrader 5 behind the shim. Its clock is UTC; the waits of its program move a virtual clock. */
export class TerminalDouble {
  symbols: string[] = ['EURUSD.z']
  /** Times of the first bar and after the last bar of a symbol, if they are not those of the terminal. */
  readonly since = new Map<string, number>()
  readonly until = new Map<string, number>()
  /** Symbols whose series never becomes whole. */
  readonly unloadable = new Set<string>()
  /** Bars that the broker changed. */
  readonly changed = new Map<string, number>()
  /** All symbols but the first one tick in the first second of a minute only. */
  isCalm = false
  /** Bars before this time were halved, as after a split. */
  halvedBefore = 0
  /** From here on the terminal has no connection: no bars and no ticks become known. */
  lostFrom = Number.POSITIVE_INFINITY
  first: number
  maxBars = 100_000
  memory = 300
  login = 4711
  faults: Fault[] = []
  readonly printed: string[] = []
  program: TerminalProgram
  readonly #options: DoubleOptions
  readonly #later: { readonly at: number; readonly run: () => void }[] = []
  #isStopped = false
  #isPosting = false
  #waitsUntil = 0
  #errors = ''

  constructor(options: DoubleOptions) {
    this.#options = options
    this.first = dayOf(this.now) - 4 * 86_400
    this.program = this.#start()
  }

  /** Broker time now. */
  get now(): number {
    return Math.floor(this.#options.clock.utcMs() / 1000)
  }

  get isConnected(): boolean {
    return this.now < this.lostFrom
  }

  /** Whether something is still to happen, or the terminal stands still for more than a minute. */
  get isWaiting(): boolean {
    return this.#later.length > 0 || this.#waitsUntil > this.now + minute
  }

  /** Runs once these seconds have passed. */
  after(seconds: number, run: () => void): void {
    this.#later.push({ at: this.now + seconds, run })
  }

  /** All bars of a symbol that opened in `[from, to)`, with their last values as far as they are known now. */
  bars(raw: string, from: number, to: number): DoubleBar[] {
    const known = Math.min(this.now, this.lostFrom, this.until.get(raw) ?? Number.POSITIVE_INFINITY)
    const start = Math.max(from, this.#firstOf(raw))
    const found: DoubleBar[] = []
    for (let time = Math.ceil(start / minute) * minute; time < Math.min(to, known); time += minute)
      found.push(this.#bar(raw, time, known))
    return found
  }

  change(raw: string, time: number, shift: number): void {
    this.changed.set(`${raw} ${time}`, shift)
  }

  /** Like a killed terminal that starts again. */
  async restart(): Promise<void> {
    this.memory = 300
    await this.#kill()
    if (!this.#isStopped) this.program = this.#start()
  }

  /** Ends the program. Returns what the sanitizers of all its runs printed. */
  async stop(): Promise<string> {
    this.#isStopped = true
    await this.#kill()
    return this.#errors
  }

  async wait(ms: number): Promise<void> {
    const { clock } = this.#options
    const until = clock.monotonicMs() + ms
    this.#waitsUntil = Math.max(this.#waitsUntil, this.now + ms / 1000)
    const move = async (): Promise<void> => {
      // Long waits go by minutes, so that collector and ingest work meanwhile.
      while (!this.#isStopped && clock.monotonicMs() < until)
        await clock.advance(Math.min(60_000, until - clock.monotonicMs()))
    }
    const moved = (moving.get(clock) ?? Promise.resolve()).then(move)
    moving.set(clock, moved)
    await moved
    for (const each of this.#later.filter(({ at }) => at <= this.now)) {
      this.#later.splice(this.#later.indexOf(each), 1)
      each.run()
    }
  }

  async #kill(): Promise<void> {
    const { program } = this
    this.#isPosting = false
    program.kill()
    await program.ended
    this.#errors += program.errors
  }

  #start(): TerminalProgram {
    return new TerminalProgram('mt5', (name, args) => this.#answer(name, args))
  }

  #firstOf(raw: string): number {
    return Math.max(this.first, this.since.get(raw) ?? 0)
  }

  #bar(raw: string, time: number, known: number): DoubleBar {
    const shift = this.changed.get(`${raw} ${time}`) ?? 0
    return barAt(raw, time, {
      isForming: time + minute > known,
      shift,
      factor: time < this.halvedBefore ? 0.5 : 1,
    })
  }

  #answer(name: string, args: readonly string[]): Reply | Promise<Reply> {
    this.#isPosting = false
    for (const fault of this.faults) {
      const reply = fault(name, args)
      if (reply) return reply
    }
    return this.reply(name, args)
  }

  /** The answer of a terminal without a fault. */
  reply(name: string, args: readonly string[]): Reply | Promise<Reply> {
    const [first = '', second = '', third = '', fourth = ''] = args
    const { address, token, role } = this.#options
    const known: Readonly<Record<string, () => Reply | Promise<Reply>>> = {
      Input: () => ({ result: { Address: address, Token: token, Role: role }[first] ?? '' }),
      SymbolsTotal: () => ({ result: this.symbols.length }),
      SymbolName: () => ({ result: this.symbols[Number(first)] ?? '' }),
      SymbolSelect: () => ({ result: this.symbols.includes(first) ? 1 : 0 }),
      SymbolInfoInteger: () => ({ result: 5 }),
      SymbolInfoString: () => ({ result: second === 'PATH' ? `Forex\\${first}` : 'A pair' }),
      SymbolTimes: () => this.#ticks(),
      SeriesInfoInteger: () => ({ result: this.#series(first, third) }),
      CopyRates: () => this.#copied(first, second, this.bars(first, Number(third), Number(fourth) + 1)),
      CopyLast: () =>
        this.#copied(first, second, this.bars(first, this.#newest - minute, this.now + 1).slice(-1)),
      TerminalInfoInteger: () => ({ result: this.#property(first) }),
      AccountInfoInteger: () => ({ result: this.login }),
      AccountInfoString: () => ({ result: first === 'SERVER' ? 'Zero-Live' : 'Zero Ltd' }),
      TimeCurrent: () => ({ result: this.#tick }),
      TimeTradeServer: () => ({ result: this.now }),
      TimeGMT: () => ({ result: this.now }),
      GetMicrosecondCount: () => ({ result: Math.floor(this.#options.clock.monotonicMs() * 1000) }),
      IsStopped: () => ({ result: this.#isStopped ? 1 : 0 }),
      Sleep: () => this.wait(Number(first)).then(() => ({ result: 0 })),
      WebRequest: () => this.post(0),
      WebAnswered: () => ({ result: 0 }),
      Print: () => ({ result: this.printed.push(first) }),
    }
    const reply = known[name]
    if (!reply) throw new Error(`the program called ${name}, which the double lacks`)
    return reply()
  }

  /** Bars of M1 as `CopyRates` gives them: of the newest `maxBars` only. */
  #copied(raw: string, frame: string, bars: readonly DoubleBar[]): Reply {
    if (frame !== 'M1' || !this.symbols.includes(raw) || this.unloadable.has(raw))
      return { result: -1, error: 4401 }
    const oldest = this.#series(raw, 'FIRSTDATE')
    const lines = bars.filter(({ time }) => time >= oldest).map(({ fields }) => fields)
    return { result: lines.length, lines }
  }

  /** Lets the program post; `mode` as in shim/README.md. Time passes until the answer. */
  async post(mode: 0 | 1 | 2, ms = 5): Promise<Reply> {
    await this.wait(ms)
    this.#isPosting = true
    void this.#passTime()
    return { result: mode }
  }

  async #passTime(): Promise<void> {
    while (this.#isPosting && !this.#isStopped) {
      await this.wait(1)
      await turn()
    }
  }

  get #tick(): number {
    return Math.min(this.now, this.lostFrom)
  }

  get #newest(): number {
    return this.#tick - (this.#tick % minute)
  }

  #ticks(): Reply {
    const lines = this.symbols.map((raw, at) => [raw, this.isCalm && at > 0 ? this.#newest : this.#tick])
    return { result: lines.length, lines }
  }

  #series(raw: string, property: string): number {
    if (property === 'SYNCHRONIZED') return this.unloadable.has(raw) ? 0 : 1
    const first = this.#firstOf(raw)
    const capped = Math.max(first, this.#newest - (this.maxBars - 1) * minute)
    if (property === 'SERVER_FIRSTDATE') return first
    return property === 'FIRSTDATE' ? capped : (this.#newest - capped) / minute + 1
  }

  #property(name: string): number {
    const known: Readonly<Record<string, number>> = {
      CONNECTED: this.isConnected ? 1 : 0,
      BUILD: 5000,
      MAXBARS: this.maxBars,
      MEMORY_USED: this.memory,
    }
    return known[name] ?? 16_000
  }
}
