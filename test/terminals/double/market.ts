export const minute = 60
const day = 86_400
/** Volume of a bar while it forms; no other bar has it. */
export const formingVolume = 1

export const dayOf = (time: number): number => time - (time % day)

export interface DoubleBar {
  readonly time: number
  /** As the shim wants a bar. */
  readonly fields: readonly (number | string)[]
}

export interface BarState {
  /** Its close and its volume are others than later. */
  readonly isForming?: boolean
  /** Points that the broker added to its prices. */
  readonly shift?: number
  /** By which its prices were multiplied, as after a split. */
  readonly factor?: number
}

/** The bar of a symbol at this time, with five decimals. */
export function barAt(
  raw: string,
  time: number,
  { isForming = false, shift = 0, factor = 1 }: BarState,
): DoubleBar {
  let seed = time / minute
  for (const letter of raw) seed = (seed * 31 + letter.charCodeAt(0)) % 7919
  const open = 100_000 + seed + shift
  const price = (points: number): string => (Math.round(points * factor) / 100_000).toFixed(5)
  const prices = [open, open + 5, open - 5, open + (isForming ? 1 : 3)].map(price)
  return { time, fields: [time, ...prices, isForming ? formingVolume : 7, 1, 0] }
}

/** Time, prices and volume of a bar as one text, to compare it. */
export const textOf = ({ fields }: DoubleBar): string => fields.slice(0, 6).join(' ')
