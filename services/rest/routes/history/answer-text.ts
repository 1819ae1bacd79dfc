import { type Bars, barCount } from '../../../core/bars/bar.ts'
import type { Series } from '../../../core/bars/series.ts'
import { numberText } from './number-text.ts'

/** Maximum bars that are written as JSON in one turn of the event loop: about 2 ms. */
export const barsPerTurn = 2_000

/** The answer's arrays, in the specification's order. */
const arrays = [
  ['t', 'time'],
  ['o', 'open'],
  ['h', 'high'],
  ['l', 'low'],
  ['c', 'close'],
  ['v', 'volume'],
] as const

type Column = (typeof arrays)[number][1]

const comma = Buffer.from(',')

/** Slices are added oldest first. Each array must be complete before the next, so the text is kept by column. */
export class AnswerText {
  readonly #columns: Readonly<Record<Column, Buffer[]>> = {
    time: [],
    open: [],
    high: [],
    low: [],
    close: [],
    volume: [],
  }
  #count = 0
  #bytes = 0

  get count(): number {
    return this.#count
  }

  /** Bytes of the columns; the short text around them is not counted. */
  get bytes(): number {
    return this.#bytes
  }

  add(slice: Bars): void {
    if (barCount(slice) === 0) return
    for (const [, column] of arrays) {
      if (this.#count > 0) this.#columns[column].push(comma)
      const text = numberText(slice[column])
      this.#columns[column].push(text)
      this.#bytes += text.length
    }
    this.#count += barCount(slice)
  }

  /** Without a series the answer has no `meta`. */
  pieces(series?: Pick<Series, 'symbol' | 'resolution'>): Buffer[] {
    const meta = series && { symbol: series.symbol, resolution: series.resolution, bar_count: this.#count }
    return [
      ...arrays.flatMap(([name, column], i) => [
        Buffer.from(`${i === 0 ? '{"s":"ok"' : ']'},"${name}":[`),
        ...this.#columns[column],
      ]),
      Buffer.from(meta ? `],"meta":${JSON.stringify(meta)}}` : ']}'),
    ]
  }
}
