import type { Span } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'

/**
 * The union of the added spans, with each piece in a numbered slot. A piece that grows stays in its slot, so one row
 * per slot is enough. A piece that another one absorbed frees its slot.
 */
export class SpanSlots {
  readonly #slots: (Span | undefined)[] = []

  /** Returns the piece that now contains the span, and the slot to write it to. */
  add(span: Span): { readonly slot: number; readonly span: Span } {
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
