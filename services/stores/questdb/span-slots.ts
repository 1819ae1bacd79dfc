import type { Span } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'

export interface SlottedSpan {
  readonly slot: number
  readonly span: Span
}

/**
 * The union of the spans that were added, each piece of it in a numbered slot. A piece that grows stays in
 * its slot, so a row per slot is all there is to keep; a piece that another one swallowed frees its own.
 */
export class SpanSlots {
  readonly #slots: (Span | undefined)[] = []

  /** Gives the piece that now holds the span, and the slot to write it to. */
  add(span: Span): SlottedSpan {
    let [from, to]: [FeedSeconds, FeedSeconds] = [span.from, span.to]
    let slot: number | undefined
    this.#slots.forEach((held, i) => {
      if (held === undefined || held.from > span.to || held.to < span.from) return
      from = feedSeconds(Math.min(from, held.from))
      to = feedSeconds(Math.max(to, held.to))
      slot ??= i
      this.#slots[i] = undefined
    })
    slot ??= this.#freeSlot()
    this.#slots[slot] = { from, to }
    return { slot, span: { from, to } }
  }

  #freeSlot(): number {
    const free = this.#slots.indexOf(undefined)
    return free < 0 ? this.#slots.length : free
  }
}
