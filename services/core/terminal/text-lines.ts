import { LineFault, type TextLine } from './fields.ts'

/** Reads lines one by one: a body of noise is refused at its first line. Each line ends with `\n` or `\r\n`. */
export class TextLines {
  readonly #text: string
  #at = 0
  #number = 0

  constructor(text: string) {
    this.#text = text
  }

  /** `undefined` at the end. Throws `LineFault`. */
  next(): TextLine | undefined {
    if (this.#at === this.#text.length) return undefined
    this.#number += 1
    const end = this.#text.indexOf('\n', this.#at)
    if (end < 0) throw new LineFault(`line ${this.#number}: it does not end with a line break`)
    const isCrLf = end > this.#at && this.#text.charCodeAt(end - 1) === 13
    const line = this.#text.slice(this.#at, isCrLf ? end - 1 : end)
    if (line.includes('\r')) throw new LineFault(`line ${this.#number}: it has a line break inside`)
    this.#at = end + 1
    return { number: this.#number, fields: line.split('\t') }
  }
}
