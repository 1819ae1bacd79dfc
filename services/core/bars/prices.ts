/** Exact powers of ten, up to 10^22, so that dividing an integer by one rounds correctly. */
const powers = Array.from({ length: 23 }, (_, scale) => 10 ** scale)
const powerOf = (scale: number): number => powers[scale] ?? 10 ** scale

/** A price as an integer of `scale` decimals, the nearest. */
export const toInteger = (price: number, scale: number): number => Math.round(price * powerOf(scale))

/** The double nearest to `integer / 10^scale`: the same as parsing the decimal text of the price. */
export const fromInteger = (integer: number, scale: number): number => integer / powerOf(scale)

/** The number of printed decimals, trailing zeros included. */
export function decimalsOf(text: string): number {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}

/** A column of integers as its first value and the differences that follow. */
export function encodeDeltas(column: Float64Array): number[] {
  const deltas: number[] = []
  let previous = 0
  for (const value of column) {
    deltas.push(value - previous)
    previous = value
  }
  return deltas
}

/** The reverse of `encodeDeltas`, into a column of the same length. */
export function decodeDeltas(deltas: readonly number[], into: Float64Array): void {
  let value = 0
  for (let i = 0; i < into.length; i++) {
    value += deltas[i] as number
    into[i] = value
  }
}
