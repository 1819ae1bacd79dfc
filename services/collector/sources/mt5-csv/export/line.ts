import { barTimeMax, barTimeMin } from '../../../../core/bars/bar-rules.ts'
import { parseDate } from '../../../../core/clocks/calendar.ts'
import { show } from '../../../../core/show.ts'
import type { Layout } from './layout.ts'

/** 10^0 to 10^15: a mantissa above 2^53 is rejected, so no more are needed. */
const powers = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent)

const code = { minus: 45, dot: 46, colon: 58, zero: 48, nine: 57, space: 32 } as const

/** Characters of `YYYY.MM.DD`. */
const dateLength = 10

/**
 * Reads lines of one layout. `read` fills `values` and returns `undefined`, or returns the fault of the line.
 * Times are not converted: they are on the feed's clock.
 */
export class LineReader {
  /** Reused for all lines. `time` is NaN when it cannot be read; `decimals` are the most among the prices. */
  readonly values = { time: 0, open: 0, high: 0, low: 0, close: 0, volume: 0, decimals: 0 }
  /** Whether all faults get one fixed text. Texts for a million bad lines would stop the event loop for seconds. */
  isTerse = false
  readonly #layout: Layout
  readonly #separator: number
  #text = ''
  #at = 0
  #lastDate = ''
  #lastDay = 0
  #fault: string | undefined

  constructor(layout: Layout) {
    this.#layout = layout
    this.#separator = layout.separator.charCodeAt(0)
  }

  /** `isEnded`: whether the line has a line end; one without needs all columns, because it may be cut. */
  read(line: string, isEnded: boolean): string | undefined {
    this.#text = line
    this.#at = 0
    this.#fault = undefined
    const { values } = this
    values.decimals = 0
    values.time = this.#date()
    if (this.#layout.hasTime) values.time += this.#time()
    if (this.#fault !== undefined) values.time = Number.NaN
    if (values.time < barTimeMin || values.time > barTimeMax)
      this.#bad(() => `the date is ${show(line.slice(0, 10))}; wanted is 1970.01.01 to 2255.06.05`)
    values.open = this.#price('open')
    values.high = this.#price('high')
    values.low = this.#price('low')
    values.close = this.#price('close')
    values.volume = this.#volume()
    this.#rest(isEnded)
    return this.#fault
  }

  #date(): number {
    const isFollowed = this.#layout.isTimeInDate && this.#text.charCodeAt(dateLength) === code.space
    const end = isFollowed ? dateLength : this.#cellEnd()
    const cell = this.#text.slice(this.#at, end)
    this.#at = end + 1
    if (cell === this.#lastDate) return this.#lastDay
    const day = /^[\d.]{10}$/.test(cell) ? parseDate(cell.replaceAll('.', '-')) : undefined
    if (day === undefined) return this.#bad(() => `the date is ${show(cell)}; wanted is YYYY.MM.DD`)
    this.#lastDate = cell
    this.#lastDay = day
    return day
  }

  #time(): number {
    const end = this.#cellEnd()
    const cell = this.#text.slice(this.#at, end)
    this.#at = end + 1
    const digit = (index: number): number => cell.charCodeAt(index) - code.zero
    const pair = (index: number): number => digit(index) * 10 + digit(index + 1)
    const shaped = cell.length === 8 ? cell.charCodeAt(5) === code.colon : cell.length === 5
    const seconds = cell.length === 8 ? pair(6) : 0
    const ok =
      shaped &&
      cell.charCodeAt(2) === code.colon &&
      inRange(pair(0), 24) &&
      inRange(pair(3), 60) &&
      inRange(seconds, 60)
    if (!ok || !/^[\d:]+$/.test(cell))
      return this.#bad(() => `the time is ${show(cell)}; wanted is HH:MM or HH:MM:SS`)
    return pair(0) * 3600 + pair(3) * 60 + seconds
  }

  /** A sign, and digits with at most one point, read as an integer and divided once: the nearest double, as printed. */
  #price(name: string): number {
    const start = this.#at
    const end = this.#cellEnd()
    const isNegative = this.#text.charCodeAt(start) === code.minus
    const first = isNegative ? start + 1 : start
    let mantissa = 0
    let decimals = -1
    for (let i = first; i < end; i++) {
      const c = this.#text.charCodeAt(i)
      if (c >= code.zero && c <= code.nine) {
        mantissa = mantissa * 10 + (c - code.zero)
        if (decimals >= 0) decimals++
      } else if (c === code.dot && decimals < 0) decimals = 0
      else return this.#badNumber(name, start, end)
    }
    this.#at = end + 1
    const hasDigits = end - first > (decimals < 0 ? 0 : 1)
    if (!hasDigits || mantissa > Number.MAX_SAFE_INTEGER || decimals > 15)
      return this.#badNumber(name, start, end)
    const places = Math.max(decimals, 0)
    if (places > this.values.decimals) this.values.decimals = places
    // A zero has no sign: two readings of it are the same bar.
    if (isNegative && mantissa > 0) mantissa = -mantissa
    return mantissa / (powers[places] as number)
  }

  #volume(): number {
    const start = this.#at
    const end = this.#cellEnd()
    let value = 0
    for (let i = start; i < end; i++) {
      const c = this.#text.charCodeAt(i)
      // Tools that keep numbers as floats write `30.0`.
      if (c === code.dot && i > start && /^0+$/.test(this.#text.slice(i + 1, end))) break
      if (c < code.zero || c > code.nine) return this.#badVolume(start, end)
      value = value * 10 + (c - code.zero)
    }
    this.#at = end + 1
    if (end === start || value > Number.MAX_SAFE_INTEGER) return this.#badNumber('volume', start, end)
    return value
  }

  /** Columns after the tick volume (real volume, spread) are not used, but too many columns mean a damaged line. */
  #rest(isEnded: boolean): void {
    let columns = this.#layout.columnsMin
    // A separator at the end of a line begins no column.
    while (this.#at < this.#text.length) {
      this.#at = this.#cellEnd() + 1
      columns++
    }
    const { columnsMax } = this.#layout
    if (columns > columnsMax) this.#bad(() => `it has ${columns} columns; the layout has ${columnsMax}`)
    if (!isEnded && columns < columnsMax)
      this.#bad(() => `it has no line end and ${columns} columns; the layout has ${columnsMax}`)
  }

  #cellEnd(): number {
    if (this.#at > this.#text.length) return this.#at
    let end = this.#at
    while (end < this.#text.length && this.#text.charCodeAt(end) !== this.#separator) end++
    return end
  }

  #badVolume(start: number, end: number): number {
    const cell = this.#text.slice(start, end)
    if (!/^-?\d+(\.\d+)?$/.test(cell)) return this.#badNumber('volume', start, end)
    const wanted = cell.startsWith('-') ? '0 or more' : 'a whole number'
    return this.#bad(() => `the volume is ${show(cell)}; wanted is ${wanted}`)
  }

  #badNumber(name: string, start: number, end: number): number {
    const cell = this.#text.slice(start, end)
    this.#at = end + 1
    if (cell === '') return this.#bad(() => `the ${name} is missing`)
    return this.#bad(() => `the ${name} is ${show(cell)}${hintOf(cell)}; wanted is a plain number`)
  }

  /** Notes the first fault of a line. Only its text is made. */
  #bad(message: () => string): number {
    this.#fault ??= this.isTerse ? 'it is rejected, like many lines before it' : message()
    return 0
  }
}

const inRange = (value: number, end: number): boolean => value >= 0 && value < end

function hintOf(cell: string): string {
  if (/^-?\d{1,3}(?:,\d{3})+\.\d*$/.test(cell) || /^-?\d{1,3}(?:[\s'’.]\d{3})+(?:[.,]\d*)?$/.test(cell))
    return ' (with thousands separators)'
  return cell.includes(',') ? ' (a decimal comma; the export needs a decimal point)' : ''
}
