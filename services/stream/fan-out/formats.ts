import type { Format } from '../../frames/client-messages.ts'

/** The format of the bars of each socket, by its row in the subscriptions. The first choice of a socket stays. */
export class Formats {
  readonly #chosen = new Map<number, Format>()
  readonly #sockets: Record<Format, number> = { bar: 0, rows: 0 }

  choose(row: number, format: Format): void {
    if (this.#chosen.has(row)) return
    this.#chosen.set(row, format)
    this.#sockets[format] += 1
  }

  of(row: number): Format {
    return this.#chosen.get(row) ?? 'bar'
  }

  /** Whether any socket chose the format. */
  isUsed(format: Format): boolean {
    return this.#sockets[format] > 0
  }

  forget(row: number): void {
    const format = this.#chosen.get(row)
    if (format && this.#chosen.delete(row)) this.#sockets[format] -= 1
  }
}
