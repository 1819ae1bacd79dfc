import { fileURLToPath } from 'node:url'
import { ForeignProcess, type Line, python } from '../../interop/foreign-process.ts'
import type { GivenItem } from '../checks/check-items.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export const languages = ['typescript', 'python'] as const
export type Language = (typeof languages)[number]

const programs = {
  typescript: (options: string) => new ForeignProcess(process.execPath, here('follow.ts'), [options]),
  python: (options: string) =>
    new ForeignProcess(python('requirements-client.txt'), here('../../interop/follow.py'), [options], {
      PYTHONPATH: here('../../../clients/python/src'),
    }),
}

export interface FollowerOptions {
  readonly language: Language
  /** Base address of REST. */
  readonly url: string
  readonly keyFile: string
  readonly symbols: readonly string[]
  /** Open time of the first bar. */
  readonly start: number
  /** Bars that wait for the program. */
  readonly buffer: number
}

/** A program in its own process that follows bars with one of the clients, and what that client gave it. */
export class Follower {
  readonly language: Language
  /** How its programs ended, in order. */
  readonly ends: string[] = []
  readonly #options: FollowerOptions
  readonly #items: GivenItem[] = []
  readonly #last = new Map<string, number>()
  #process: ForeignProcess
  #read = 0
  #hasFailed = false

  constructor(options: FollowerOptions) {
    this.language = options.language
    this.#options = options
    this.#process = this.#begin({})
  }

  /** Items of all its programs, in the order in which they were given. */
  get items(): readonly GivenItem[] {
    this.#readLines()
    return this.#items
  }

  /** Time of the last bar of a symbol. */
  last(symbol: string): number {
    this.#readLines()
    return this.#last.get(symbol) ?? 0
  }

  get hasEnded(): boolean {
    this.#readLines()
    return this.#hasFailed
  }

  /** Starts a new program behind the last bars of the one that ended. */
  begin(): void {
    this.#process = this.#begin({ after: Object.fromEntries(this.#last) })
    this.#read = 0
    this.#hasFailed = false
  }

  /** Stops or continues to read items. */
  reads(reads: boolean): void {
    this.#process.send({ reads })
  }

  /** Sets the clock of its machine so many seconds forward, compared with the true time. */
  setClock(seconds: number): void {
    this.#process.send({ clock: seconds })
  }

  signal(name: NodeJS.Signals): void {
    this.#process.signal(name)
  }

  /** What the client thinks of a feed. */
  async verdict(feed: string): Promise<string | undefined> {
    this.#process.send({})
    const { liveness } = await this.#process.next('a verdict', (line) => 'liveness' in line)
    return (liveness as Record<string, string>)[feed]
  }

  /** What the client logged last. */
  get logged(): string {
    const logs = this.#process.lines.flatMap(({ log }) => (typeof log === 'string' ? [log] : []))
    return `${this.language}: ${logs.slice(-5).join('; ')}`
  }

  #begin(more: object): ForeignProcess {
    const { language, keyFile, ...options } = this.#options
    return programs[language](JSON.stringify({ ...options, key_file: keyFile, ...more }))
  }

  #readLines(): void {
    const { lines, ended } = this.#process
    while (this.#read < lines.length) this.#take(lines[this.#read++] as Line)
    if (ended !== undefined && !this.#hasFailed) this.#fail(`ended with ${ended}`)
  }

  #take(line: Line): void {
    const { type, symbol, failed } = line
    if (failed !== undefined) this.#fail(`${String(failed)} ${String(line['close'] ?? line['status'])}`)
    if (type !== 'bar' && type !== 'gap') return
    if (type === 'bar') this.#last.set(symbol as string, line['time'] as number)
    // Python says `start` and `end`.
    const { from = line['start'], to = line['end'] } = line
    this.#items.push({ ...line, from, to } as unknown as GivenItem)
  }

  #fail(end: string): void {
    this.#hasFailed = true
    this.ends.push(end)
  }
}

/** Whether a program gave the newest bar of each symbol in history. */
export const hasNewest = (follower: Follower, history: ReadonlyMap<string, readonly number[]>): boolean =>
  [...history].every(([symbol, times]) => follower.last(symbol) >= (times.at(-1) ?? 0))
