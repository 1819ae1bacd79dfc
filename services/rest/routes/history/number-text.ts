/** Maximum decimals of a number that is written digit by digit; prices have fewer. */
const scaleMax = 10
const powers = Array.from({ length: scaleMax + 1 }, (_, scale) => 10 ** scale)
/** Below this, two different decimals are two different doubles, so the digits are the shortest text. */
const exactBelow = 1e15
/** Minimum number that is written without an exponent. */
const plainFrom = 1e-6
/** Maximum bytes of a double's text, its comma included. */
const numberBytesMax = 26

/** Reused, as long as the longest list so far: a new buffer per list would be garbage of three times the answer. */
let scratch = Buffer.alloc(0)

const zero = 48
const point = 46
const comma = 44

/**
 * Writes the numbers as `JSON.stringify` does, separated by commas and without brackets. To print a double costs
 * several times as much as to print an integer. Nearly all prices are integers of a few decimals; numbers that
 * pass this test (by division) are printed as integers.
 */
export function numberText(values: Float64Array): Buffer {
  const bytesMax = values.length * numberBytesMax
  if (scratch.length < bytesMax) scratch = Buffer.allocUnsafeSlow(bytesMax)
  const out = scratch
  let at = 0
  let scale = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (i > 0) out[at++] = comma
    if (!isDecimal(value, scale)) scale = scaleOf(value)
    if (scale <= scaleMax) at = writeDecimal(out, at, Math.round(value * (powers[scale] as number)), scale)
    else at += out.write(JSON.stringify(value), at, 'latin1')
  }
  return Buffer.from(out.subarray(0, at))
}

/** Whether the number has at most `scale` decimals, and is printed as an integer of them. */
function isDecimal(value: number, scale: number): boolean {
  if (scale > scaleMax || !(value >= plainFrom || value === 0)) return false
  const power = powers[scale] as number
  const integer = Math.round(value * power)
  return integer < exactBelow && integer / power === value
}

/** The fewest decimals of which the number is an integer; more than `scaleMax` if there are none. */
function scaleOf(value: number): number {
  let scale = 0
  while (scale <= scaleMax && !isDecimal(value, scale)) scale++
  return scale
}

function writeDecimal(out: Buffer, start: number, integer: number, scale: number): number {
  let rest = integer
  let decimals = scale
  while (decimals > 0 && rest % 10 === 0) {
    rest /= 10
    decimals--
  }
  let end = start + Math.max(digitsOf(rest), decimals + 1)
  if (decimals > 0) {
    // Writes backwards: the decimals, the point, then the digits before it.
    end++
    const from = end - decimals
    rest = writeDigits(out, from, end, rest)
    out[from - 1] = point
    writeDigits(out, start, from - 1, rest)
  } else writeDigits(out, start, end, rest)
  return end
}

function digitsOf(value: number): number {
  let digits = 1
  for (let power = 10; power <= value; power *= 10) digits++
  return digits
}

/** Fills `[from, end)` with the last digits, with leading zeros, and returns the rest of the number. */
function writeDigits(out: Buffer, from: number, end: number, value: number): number {
  let rest = value
  let i = end
  // Above 31 bits the digits come from a double, below from an integer, which is far cheaper.
  while (i > from && rest > 0x7fff_ffff) {
    const next = Math.floor(rest / 10)
    out[--i] = zero + rest - next * 10
    rest = next
  }
  let small = rest | 0
  while (i > from) {
    const next = (small / 10) | 0
    out[--i] = zero + small - next * 10
    small = next
  }
  return rest > 0x7fff_ffff ? rest : small
}
