import type { Terminal } from '../terminal.ts'

/** Intervals of output: a person sees a moving bar, a log gets a line. */
const drawnEveryMs = 100
const loggedEveryMs = 5_000
const barWidth = 24

export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

type ProgressTerminal = Pick<Terminal, 'clock' | 'watched' | 'columns' | 'err'>

/** Shows the progress of an import on standard error, at a bounded rate. */
export class Progress {
  readonly #terminal: ProgressTerminal
  readonly #everyMs: number
  #shownMs: number
  #drawn = false
  #total = 0
  #done = 0
  #what = ''
  #unit = ''

  constructor(terminal: ProgressTerminal) {
    this.#terminal = terminal
    this.#everyMs = terminal.watched ? drawnEveryMs : loggedEveryMs
    this.#shownMs = terminal.clock.monotonicMs()
  }

  begin(what: string, total: number, unit: 'lines' | 'bytes' = 'lines'): void {
    this.#what = what
    this.#unit = unit
    this.#total = total
    this.#done = 0
  }

  add(count: number): void {
    this.#done += count
    const now = this.#terminal.clock.monotonicMs()
    if (now - this.#shownMs < this.#everyMs) return
    this.#shownMs = now
    this.#show()
  }

  /** Erases the bar; later output takes its line. */
  end(): void {
    if (this.#drawn) this.#terminal.err('\r\u001B[K')
    this.#drawn = false
  }

  #show(): void {
    const share = this.#total === 0 ? 0 : Math.min(1, this.#done / this.#total)
    const text = `${this.#what} ${grouped(this.#done)} of ${grouped(this.#total)} ${this.#unit} (${Math.floor(share * 100)} %)`
    if (!this.#terminal.watched) return this.#terminal.err(`${text}\n`)
    const filled = Math.round(share * barWidth)
    const line = `[${'='.repeat(filled)}${' '.repeat(barWidth - filled)}] ${text}`
    // A line that fills the terminal would wrap, and the next one could not erase it. 0 means an unknown width.
    const width = (this.#terminal.columns || Number.POSITIVE_INFINITY) - 1
    this.#terminal.err(`\r\u001B[K${line.slice(0, width)}`)
    this.#drawn = true
  }
}
