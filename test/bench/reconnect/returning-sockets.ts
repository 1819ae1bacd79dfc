import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { monotonicMs } from '../minute/monotonic.ts'
import { compiled } from '../support/compiled.ts'

const pollMs = 500

/** Bars of the newest minute, and when they arrived. */
export interface Arrivals {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** What the sockets saw. Times are milliseconds of the monotonic clock; counts are since the last reset. */
export interface Report {
  /** At sockets that were not closed since the last reset. */
  readonly stayed: Arrivals
  /** At sockets that had returned and lacked nothing. The service may still have read the store for them. */
  readonly returned: Arrivals
  /** Returns that have all bars again; time since the close. */
  readonly returns: { readonly count: number; readonly p50Ms: number; readonly p99Ms: number }
  /** When the last replay was finished. */
  readonly lastReplay: number
  readonly closes: number
  /** Failed attempts to open a socket. */
  readonly refused: number
  readonly gaps: number
  /** Bars that the sockets missed, or got twice. */
  readonly missed: number
  readonly twice: number
  /** Sockets that lack a bar of the newest minute, or are not open. */
  readonly behind: number
}

/** Sockets in a separate process written in C, which return after a close with `since`. */
export class ReturningSockets {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #input: Interface

  /** One socket for each path with its symbols. */
  constructor(
    port: number,
    sockets: readonly { readonly path: string; readonly symbols: readonly string[] }[],
  ) {
    const source = join(import.meta.dirname, 'returning.c')
    this.#child = spawn(compiled(source), [String(port), String(sockets.length)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    process.once('exit', () => this.#child.kill())
    this.#input = createInterface(this.#child.stdout as NodeJS.ReadableStream)
    this.#lines = this.#input[Symbol.asyncIterator]()
    for (const { path, symbols } of sockets) this.#child.stdin?.write(`${path} ${symbols.join(' ')}\n`)
  }

  /** Announces the open time of the bars that are sent next. */
  minute(open: number): Promise<Report> {
    return this.#order(`minute ${open}`)
  }

  /** Sets the counts back to 0. */
  reset(): Promise<Report> {
    return this.#order('reset')
  }

  /** Resolves once all sockets are open and have all bars. */
  async complete(deadlineMs: number): Promise<Report> {
    const begun = monotonicMs()
    for (;;) {
      const report = await this.#order('report')
      if (report.behind === 0) return report
      if (monotonicMs() - begun > deadlineMs)
        throw new Error(`sockets are behind for too long: ${JSON.stringify(report)}`)
      await systemClock.sleep(pollMs)
    }
  }

  async close(): Promise<void> {
    this.#input.close()
    this.#child.kill()
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }

  async #order(text: string): Promise<Report> {
    this.#child.stdin?.write(`${text}\n`)
    const next = await this.#lines.next()
    if (next.done === true) throw new Error('the program of the sockets ended')
    const figures = next.value.split(' ').map(Number)
    const [count = 0, away50 = 0, away99 = 0, last = 0] = figures.slice(8)
    const [closes = 0, refused = 0, gaps = 0, missed = 0, twice = 0, behind = 0] = figures.slice(12)
    return {
      stayed: arrivals(figures),
      returned: arrivals(figures.slice(4)),
      returns: { count, p50Ms: away50 / 1e6, p99Ms: away99 / 1e6 },
      lastReplay: last / 1e6,
      closes,
      refused,
      gaps,
      missed,
      twice,
      behind,
    }
  }
}

const arrivals = ([count = 0, p50 = 0, p99 = 0, max = 0]: readonly number[]): Arrivals => ({
  count,
  p50: p50 / 1e6,
  p99: p99 / 1e6,
  max: max / 1e6,
})
