const gap = '  '

/** Formats rows with padded columns; the last column is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows]
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join(gap)
      .trimEnd()
  return `${all.map(line).join('\n')}\n`
}

export function fields(pairs: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}${gap}${value}`.trimEnd()).join('\n') + '\n'
}

export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
