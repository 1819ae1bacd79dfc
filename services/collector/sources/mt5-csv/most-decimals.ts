import type { Resolution } from '../../../core/resolution.ts'
import { type OpenFile, readExport } from './read-export.ts'

/** Digits are taken from so many lines. */
const digitsLines = 1_000

/** The most decimals of a price in an export's first lines; `undefined` when none of them is a bar. */
export async function mostDecimals(
  path: string,
  resolution: Resolution,
  openFile?: OpenFile,
): Promise<number | undefined> {
  const options = { resolution, finished: true, ...(openFile && { openFile }) }
  let most: number | undefined
  let left = digitsLines
  for await (const { lines, decimals, bad } of readExport(path, options)) {
    for (const each of decimals.subarray(0, left)) most = Math.max(most ?? 0, each)
    left -= lines.length + bad.length
    if (left <= 0) break
  }
  return most
}
