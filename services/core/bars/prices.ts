/** Exact powers of ten, up to 10^22, so that dividing an integer by one rounds correctly. */
const powers = Array.from({ length: 23 }, (_, scale) => 10 ** scale)
const powerOf = (scale: number): number => powers[scale] ?? 10 ** scale

/** A price as an integer of `scale` decimals, the nearest. */
export const toInteger = (price: number, scale: number): number => Math.round(price * powerOf(scale))

/** The double nearest to `integer / 10^scale`: the same as parsing the decimal text of the price. */
export const fromInteger = (integer: number, scale: number): number => integer / powerOf(scale)
