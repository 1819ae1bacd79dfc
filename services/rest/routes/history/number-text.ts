/** Decimals up to which a number is written digit by digit; prices have fewer. */
const scaleMax = 10
const powers = Array.from({ length: scaleMax + 1 }, (_, scale) => 10 ** scale)
/** Below this every decimal of so many digits has a double of its own, so its digits are the shortest. */
const exactBelow = 1e15
/** Smaller numbers are written with an exponent. */
const plainFrom = 1e-6
/** No double's text is longer, its comma included. */
const numberBytesMax = 26

const zero = 48
const point = 46
const comma = 44

/**
 * The numbers as `JSON.stringify` writes them, separated by commas and without brackets. Printing a
 * double costs ten times as much as printing an integer, and nearly all prices are integers of a few
 * decimals: those that prove it (by dividing back) take the short way.
 */
export function numberText(values: Float64Array): Buffer {
  const out = Buffer.allocUnsafe(values.length * numberBytesMax)
  let at = 0
  let scale = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (i > 0) out[at++] = comma
    scale = scaleOf(value, scale)
    if (scale <= scaleMax) at = writeDecimal(out, at, value, scale)
    else {
      at += out.write(JSON.stringify(value), at, 'latin1')
      scale = 0
    }
  }
  // A copy, so that the spare room is not kept as long as the answer.
  return Buffer.from(out.subarray(0, at))
}

/** The first scale from `scale` on at which the number is an integer; beyond the greatest when there is none. */
function scaleOf(value: number, scale: number): number {
  if (!(value >= plainFrom || value === 0)) return scaleMax + 1
  for (let s = scale; s <= scaleMax; s++) {
    const power = powers[s] as number
    const integer = Math.round(value * power)
    if (integer >= exactBelow) break
    if (integer / power === value) return s
  }
  return scaleMax + 1
}

function writeDecimal(out: Buffer, start: number, value: number, scale: number): number {
  const power = powers[scale] as number
  const integer = Math.round(value * power)
  const whole = Math.floor(integer / power)
  let at = writeInteger(out, start, whole)
  let fraction = integer - whole * power
  if (fraction === 0) return at
  let digits = scale
  while (fraction % 10 === 0) {
    fraction /= 10
    digits--
  }
  out[at++] = point
  writeDigits(out, at, fraction, digits)
  return at + digits
}

function writeInteger(out: Buffer, at: number, value: number): number {
  const digits = digitsOf(value)
  writeDigits(out, at, value, digits)
  return at + digits
}

function digitsOf(value: number): number {
  let digits = 1
  for (let power = 10; power <= value; power *= 10) digits++
  return digits
}

/** The last `digits` digits, with leading zeros. */
function writeDigits(out: Buffer, at: number, value: number, digits: number): void {
  let rest = value
  for (let i = at + digits - 1; i >= at; i--) {
    const next = Math.floor(rest / 10)
    out[i] = zero + rest - next * 10
    rest = next
  }
}
