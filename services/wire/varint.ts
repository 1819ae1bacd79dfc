const two32 = 2 ** 32
const two31 = 2 ** 31
const bytesMax = 10

/** Reads the number at the position and moves that behind it; `undefined` if truncated by `end` or not exact. */
export function readVarint(bytes: Uint8Array, at: { position: number }, end: number): number | undefined {
  let value = 0
  let factor = 1
  for (let i = at.position; i < end && i < at.position + bytesMax; i++) {
    const byte = bytes[i] as number
    value += (byte & 127) * factor
    factor *= 128
    if (byte > 127) continue
    at.position = i + 1
    return value <= Number.MAX_SAFE_INTEGER ? value : undefined
  }
  return undefined
}

/** Reads the packed column of zigzag differences in `[start, stop)`; returns their sums, `undefined` if truncated. */
export function readColumn(bytes: Uint8Array, start: number, stop: number): Float64Array | undefined {
  let count = 0
  for (let i = start; i < stop; i++) if ((bytes[i] as number) < 128) count += 1
  if (stop > start && (bytes[stop - 1] as number) > 127) return undefined
  const column = new Float64Array(count)
  let sum = 0
  let at = start
  for (let i = 0; i < count; i++) {
    const first = bytes[at] as number
    if (first < 128) {
      at += 1
      sum += (first >>> 1) ^ -(first & 1)
    } else {
      const end = endOf(bytes, at)
      if (end - at > bytesMax) return undefined
      sum += zigzag(bytes, at, end)
      at = end
    }
    column[i] = sum
  }
  return column
}

function endOf(bytes: Uint8Array, start: number): number {
  let end = start
  while ((bytes[end] as number) > 127) end += 1
  return end + 1
}

/** Decodes in two halves of 32 bits: one double would lose the last bit of large numbers, which is the sign. */
function zigzag(bytes: Uint8Array, start: number, end: number): number {
  let low = 0
  let high = 0
  for (let i = end - 1; i >= start; i--) {
    high = ((high << 7) | (low >>> 25)) >>> 0
    low = ((low << 7) | ((bytes[i] as number) & 127)) >>> 0
  }
  const half = high === 0 ? low >>> 1 : (high % two32) * two31 + (low >>> 1)
  return low % 2 === 1 ? -half - 1 : half
}
