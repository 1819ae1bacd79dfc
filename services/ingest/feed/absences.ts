import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/feeds/registry.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import { type Absence, isAbsent } from '../check/catalogue.ts'

/** A symbol that no catalogue lists is shown for so long: its terminal may not have loaded its list yet. */
export const absenceMs = 60_000
/** The registry could not be written: it is tried again. */
const retryMs = 5_000

interface Noted extends Absence {
  /** Of its record after it left: any change of it ends this absence. */
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
 * left, unless its record changed: a catalogue lists it again, or another process saw it leave later. At most one
 * entry per symbol of the registry.
 */
export class Absences {
  readonly #feed: FeedKey
  readonly #deps: AbsenceDeps
  readonly #noted = new Map<CompoundKey, Noted>()
  #cancel: Cancel | undefined
  #isClosed = false

  constructor(feed: FeedKey, deps: AbsenceDeps) {
    this.#feed = feed
    this.#deps = deps
  }

  /** The absence of a symbol whose record has not changed since it left. */
  of(symbol: CompoundKey, view: RegistryView): Absence | undefined {
    const noted = this.#noted.get(symbol)
    return noted?.version === view.versionOf(symbol) ? noted : undefined
  }

  /** Notes what a catalogue left out; the minute of those noted before goes on. */
  note(absent: ReadonlyMap<CompoundKey, Absence>, view: RegistryView): void {
    for (const symbol of this.#noted.keys()) if (!this.of(symbol, view)) this.#noted.delete(symbol)
    const leftMs = this.#deps.clock.monotonicMs()
    for (const [symbol, absence] of absent) {
      const record = view.symbol(symbol)
      // Another process may have taken a later catalogue meanwhile.
      if (!record || !isAbsent(record) || this.#noted.has(symbol)) continue
      this.#noted.set(symbol, { ...absence, version: view.versionOf(symbol), leftMs })
    }
    this.#wait()
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
    this.#noted.clear()
  }

  /** The map holds the absences in the order in which they began. */
  #wait(delayMs = 0): void {
    const [first] = this.#noted.values()
    if (first === undefined || this.#cancel || this.#isClosed) return
    const dueMs = first.leftMs + absenceMs - this.#deps.clock.monotonicMs()
    this.#cancel = this.#deps.clock.after(Math.max(delayMs, dueMs), () => void this.#hide())
  }

  async #hide(): Promise<void> {
    const { writer, clock, log } = this.#deps
    const untilMs = clock.monotonicMs() - absenceMs
    const due = [...this.#noted].filter(([, { leftMs }]) => leftMs <= untilMs)
    let delayMs = 0
    try {
      const hidden = await writer.change((view) => {
        const rows = due.flatMap(([symbol, { version }]) => {
          const record = view.versionOf(symbol) === version ? view.symbol(symbol) : undefined
          return record ? [{ kind: 'symbol' as const, id: symbol, body: { ...record, hidden: true } }] : []
        })
        return { rows, result: rows.length }
      })
      for (const [symbol, noted] of due) if (this.#noted.get(symbol) === noted) this.#noted.delete(symbol)
      if (hidden > 0) log.info({ feed: this.#feed, symbols: hidden }, 'symbols left the catalogue')
    } catch (cause) {
      delayMs = retryMs
      log.warn({ err: cause, feed: this.#feed }, 'retrying: absent symbols could not be hidden')
    }
    this.#cancel = undefined
    this.#wait(delayMs)
  }
}
