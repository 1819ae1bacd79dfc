import type { Reply } from '../program.ts'
import { type DoubleBar, textOf } from './market.ts'
import type { TerminalDouble } from './terminal-double.ts'

type Matches = (name: string, args: readonly string[]) => boolean
type Makes = (name: string, args: readonly string[]) => Reply | Promise<Reply>
type Lines = NonNullable<Reply['lines']>

/** Matches all calls of this function, or those with this argument at the given place. */
export const calls =
  (name: string, place = 0, value?: string): Matches =>
  (called, args) =>
    called === name && (value === undefined || args[place] === value)

/** Puts one misbehaviour into a terminal, and counts how often its program met it. */
export class Faults {
  readonly terminal: TerminalDouble
  readonly met: () => void

  constructor(terminal: TerminalDouble, met: () => void) {
    this.terminal = terminal
    this.met = met
  }

  /** The next `count` calls that match are answered by `reply`. */
  next(count: number, matches: Matches, reply: Makes): void {
    let left = count
    this.#add((name, args) => left > 0 && matches(name, args) && left-- > 0, reply)
  }

  /** Calls that match are answered by `reply` for these seconds. */
  during(seconds: number, matches: Matches, reply: Makes): void {
    const until = this.terminal.now + seconds
    this.#add((name, args) => this.terminal.now < until && matches(name, args), reply)
  }

  /** Counts the calls for which this holds; the terminal answers them. */
  counts(matches: Matches): void {
    this.terminal.faults.push((name, args) => {
      if (matches(name, args)) this.met()
      return undefined
    })
  }

  /** Counts the sentences with this text that the program prints. */
  countsSaid(text: string): void {
    this.counts((name, [said = '']) => name === 'Print' && said.includes(text))
  }

  /** Counts the copies of this symbol that have this bar. */
  countsCopies(raw: string, has: (bar: string) => boolean): void {
    this.#alterCopies(raw, (lines) => {
      if (lines.some((fields) => has(textOf({ fields } as DoubleBar)))) this.met()
      return lines
    })
  }

  /** Changes the next copies of more than one bar. */
  alters(count: number, alter: (lines: Lines) => Lines): void {
    let left = count
    this.#alterCopies(undefined, (lines) => {
      if (lines.length < 2 || left-- <= 0) return lines
      this.met()
      return alter(lines)
    })
  }

  /** Waits this long before the next answer to this call. */
  blocks(name: string, seconds: number): void {
    const { terminal } = this
    this.next(1, calls(name), async (called, args) => {
      await terminal.wait(seconds * 1000)
      return terminal.reply(called, args)
    })
  }

  #add(holds: Matches, reply: Makes): void {
    this.terminal.faults.push((name, args) => {
      if (!holds(name, args)) return undefined
      this.met()
      return reply(name, args)
    })
  }

  #alterCopies(raw: string | undefined, alter: (lines: Lines) => Lines): void {
    const { terminal } = this
    terminal.faults.push((name, args) => {
      if (name !== 'CopyRates' || (raw !== undefined && args[0] !== raw)) return undefined
      return Promise.resolve(terminal.reply(name, args)).then((reply) => {
        if (!reply.lines) return reply
        const lines = alter(reply.lines)
        return { ...reply, result: lines.length, lines }
      })
    })
  }
}
