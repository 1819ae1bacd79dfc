import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import { type Absence, isAbsent } from '../check/catalogue.ts'

/** Time until an absent symbol is hidden: its terminal may not have loaded its symbol list yet. */
export const absenceMs = 60_000
const retryMs = 5_000

interface TimedAbsence extends Absence {
  /** Version of the symbol's record after it left; any change of the record ends the absence. */
  readonly version: number
  /** Monotonic milliseconds. */
  readonly leftMs: number
}

export interface AbsenceDeps {
  readonly writer: RegistryWriter
  readonly clock: Clock
  readonly log: Log
}

/**
 * The absent symbols of one feed, over all its live sessions in this process. Each is hidden a minute after it
 * left, unless its record changed: a catalogue listed it again, or another process saw it leave later. Has at most
 * one entry per symbol of the registry.
 */
export class Absences {
  readonly #feed: FeedKey
  readonly #deps: AbsenceDeps
  readonly #absences = new Map<CompoundKey, TimedAbsence>()
  #cancel: Cancel | undefined
  #isClosed = false

  constructor(feed: FeedKey, deps: AbsenceDeps) {
    this.#feed = feed
    this.#deps = deps
  }

  /** The absence of the symbol; `undefined` if its record changed since it left. */
  of(symbol: CompoundKey, view: RegistryView): Absence | undefined {
    const absence = this.#absences.get(symbol)
    return absence?.version === view.versionOf(symbol) ? absence : undefined
  }

  /** Adds the symbols that a catalogue left out. The minute of symbols added before continues. */
  note(absent: ReadonlyMap<CompoundKey, Absence>, view: RegistryView): void {
    for (const symbol of this.#absences.keys()) if (!this.of(symbol, view)) this.#absences.delete(symbol)
    const leftMs = this.#deps.clock.monotonicMs()
    for (const [symbol, absence] of absent) {
      const record = view.symbol(symbol)
      // Another process may have accepted a later catalogue meanwhile.
      if (!record || !isAbsent(record) || this.#absences.has(symbol)) continue
      this.#absences.set(symbol, { ...absence, version: view.versionOf(symbol), leftMs })
    }
    this.#wait()
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
    this.#absences.clear()
  }

  /** Starts the timer of the oldest absence, which is the first entry of the map. */
  #wait(delayMs = 0): void {
    const [first] = this.#absences.values()
    if (first === undefined || this.#cancel || this.#isClosed) return
    const dueMs = first.leftMs + absenceMs - this.#deps.clock.monotonicMs()
    this.#cancel = this.#deps.clock.after(Math.max(delayMs, dueMs), () => void this.#hide())
  }

  async #hide(): Promise<void> {
    const { writer, clock, log } = this.#deps
    const untilMs = clock.monotonicMs() - absenceMs
    const due = [...this.#absences].filter(([, { leftMs }]) => leftMs <= untilMs)
    let delayMs = 0
    try {
      const hidden = await writer.change((view) => {
        const rows = due.flatMap(([symbol, { version }]) => {
          const record = view.versionOf(symbol) === version ? view.symbol(symbol) : undefined
          return record ? [{ kind: 'symbol' as const, id: symbol, body: { ...record, hidden: true } }] : []
        })
        return { rows, result: rows.length }
      })
      for (const [symbol, absence] of due)
        if (this.#absences.get(symbol) === absence) this.#absences.delete(symbol)
      if (hidden > 0)
        log.info({ feed: this.#feed, symbols: hidden }, 'symbols hidden: the catalogue no longer lists them')
    } catch (cause) {
      delayMs = retryMs
      log.warn({ err: cause, feed: this.#feed }, 'failed to hide absent symbols; retrying')
    }
    this.#cancel = undefined
    this.#wait(delayMs)
  }
}
