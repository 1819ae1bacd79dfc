import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { isResolution, type Resolution, storedResolutions } from '../feeds/resolution.ts'
import { show } from '../show.ts'

/** Maximum characters of one field. */
const fieldLengthMax = 512
const wholeMax = 999_999_999_999_999
/** The last second of the year 9999. */
const secondsMax = 253_402_300_799

const priceShape = /^-?\d{1,15}(?:\.\d{1,10})?$/

/** One line of a text, from 1. */
export interface TextLine {
  readonly number: number
  readonly fields: readonly string[]
}

/** A sentence with the number of the line, the field, its value and what was wanted. */
export class LineFault extends Error {}

/** Reads the fields of one line in their order. Each read throws `LineFault`. */
export class Fields {
  readonly #number: number
  readonly #names: readonly string[]
  readonly #values: readonly string[]
  #next: number

  /** `form`: the names of the fields, such as `beyond RAW RESOLUTION OLDEST`. The first `skipped` are read already. */
  constructor({ number, fields: values }: TextLine, form: string, skipped: number) {
    const names = form.split(' ')
    if (values.length !== names.length)
      throw new LineFault(`line ${number}: got ${values.length} fields, wanted ${names.length}: ${form}`)
    this.#number = number
    this.#names = names
    this.#values = values
    this.#next = skipped
  }

  fault(wanted: string): LineFault {
    const at = this.#next - 1
    return new LineFault(
      `line ${this.#number}: the field ${this.#names[at]} is ${show(this.#values[at])}, wanted ${wanted}`,
    )
  }

  text(): string {
    const value = this.#values[this.#next++] ?? ''
    if (value.length > fieldLengthMax) throw this.fault(`at most ${fieldLengthMax} characters`)
    return value
  }

  word(): string {
    const value = this.text()
    if (value === '') throw this.fault('a text that is not empty')
    return value
  }

  whole(max = wholeMax): number {
    const value = this.text()
    const number = Number(value)
    if (/^\d{1,15}$/.test(value) && number <= max) return number
    throw this.fault(`a whole number from 0 to ${max}`)
  }

  seconds(): FeedSeconds {
    return feedSeconds(this.whole(secondsMax))
  }

  /** Broker time; 0 means none. */
  secondsOrNone(): FeedSeconds | undefined {
    const seconds = this.seconds()
    return seconds === 0 ? undefined : seconds
  }

  price(): string {
    const value = this.text()
    if (priceShape.test(value)) return value
    throw this.fault('a price in plain decimals, such as 1.08512')
  }

  resolution(): Resolution {
    const value = this.text()
    if (isResolution(value) && value !== '30') return value
    throw this.fault(`one of ${storedResolutions.join(' ')}`)
  }

  oneOf<T extends string>(known: readonly T[]): T {
    const value = this.text()
    const found = known.find((each) => each === value)
    if (found !== undefined) return found
    throw this.fault(`one of ${known.join(' ')}`)
  }

  matching(shape: RegExp, wanted: string): string {
    const value = this.text()
    if (shape.test(value)) return value
    throw this.fault(wanted)
  }
}

/** A text as a field: tabs and line breaks become spaces, and what is too long is cut. */
export const fieldOf = (text: string): string => text.replace(/[\t\r\n]/g, ' ').slice(0, fieldLengthMax)
