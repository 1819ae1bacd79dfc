/** Index of the greatest value that is at most `value`; -1: all are greater. */
export function indexAtMost(values: readonly number[], value: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Index of a value in an ascending list. */
export function indexIn(values: readonly number[], value: number): number | undefined {
  const index = indexAtMost(values, value)
  return values[index] === value ? index : undefined
}
