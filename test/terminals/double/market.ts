export const minute = 60
const day = 86_400

export const dayOf = (time: number): number => time - (time % day)

export interface DoubleBar {
  readonly time: number
  /** As the shim wants a bar. */
  readonly fields: readonly (number | string)[]
}

/** Text of a price with five decimals, from points. */
const price = (points: number): string => (points / 100_000).toFixed(5)

/** The bar of a symbol at this time. While it forms, its close and its volume are others. */
export function barAt(
  raw: string,
  time: number,
  { isForming = false, shift = 0 }: { isForming?: boolean; shift?: number },
): DoubleBar {
  let seed = time / minute
  for (const letter of raw) seed = (seed * 31 + letter.charCodeAt(0)) % 7919
  const open = 100_000 + seed + shift
  const close = open + (isForming ? 1 : 3)
  const prices = [open, open + 5, open - 5, close].map(price)
  return { time, fields: [time, ...prices, isForming ? 1 : 7, 1, 0] }
}
