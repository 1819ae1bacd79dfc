import { availableParallelism, cpus, loadavg } from 'node:os'

/** The `q` quantile of the values. */
export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN

export const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`
export const seconds = (valueMs: number): string => `${(valueMs / 1_000).toFixed(1)} s`
export const count = (value: number): string => Math.round(value).toLocaleString('en')

/** Prints a table: the first column is aligned left, the others right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [head, ...rows]
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  for (const row of all) {
    const cells = row.map((cell, i) =>
      i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
    )
    console.log(cells.join('   '))
  }
}

/** The machine and its load, on which figures depend besides the code. */
export const machine = (): string =>
  `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, ` +
  `${process.platform} ${process.arch}, load average ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`

/** Milliseconds that `run` takes. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await run()
  return performance.now() - begun
}
