import { availableParallelism, cpus, loadavg } from 'node:os'

/** The value that a share `q` of all does not exceed. */
export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN

export const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`
export const seconds = (valueMs: number): string => `${(valueMs / 1_000).toFixed(1)} s`
export const count = (value: number): string => Math.round(value).toLocaleString('en')

/** The first column reads from the left, figures from the right. */
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

/** What a figure depends on besides the code: a busy machine's figures are worse than the code's. */
export const machine = (): string =>
  `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, ` +
  `${process.platform} ${process.arch}, load average ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`

/** Runs and gives how long it took, in milliseconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await run()
  return performance.now() - begun
}
